// Encodes canonical events as SSE for a caller of this dialect: message_start, blocks one after the other with indexes 0..n, then
// message_delta and message_stop. Interleaved parts wait until the current block has ended.

import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, StreamEncoder } from '../../../../core/types/request/dialect.ts'
import type { Delta, StreamEvent } from '../../../../core/types/request/stream.ts'
import { usageOrEstimate } from '../../shared/unreported-usage.ts'
import { errorFrame } from '../errors.ts'
import { stopFields } from '../finish.ts'
import { messageHead } from '../response/encode.ts'
import { encodeDeltaUsage, encodeUsage, ownDeltaCounts } from '../usage.ts'
import { BlockStream } from './encode-block.ts'

export const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'

export function encodeStream(codec: CodecContext): StreamEncoder {
  return new MessageStreamEncoder(codec)
}

type PartEvent = Extract<StreamEvent, { e: 'part_start' | 'delta' | 'part_stop' }>
type PartStop = Extract<StreamEvent, { e: 'part_stop' }>
type FinishEvent = Extract<StreamEvent, { e: 'finish' }>

class MessageStreamEncoder implements StreamEncoder {
  readonly #codec: CodecContext
  /** Parts that are not yet complete, by number, in order of their start; the first one is being written. */
  readonly #parts = new Map<number, { block: BlockStream; held: Delta[]; stop: PartStop | null }>()
  #head: Pick<Extract<StreamEvent, { e: 'start' }>, 'id' | 'model' | 'ext'> = { id: '', model: '' }
  #usage: Partial<Usage> = {}
  /** For an estimate when the upstream reports no usage. */
  readonly #said: Part[] = []
  #finish: FinishEvent | null = null
  #started = false
  #over = false
  #index = 0
  #calls = false
  #refusal = ''

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  event(event: StreamEvent): string {
    if (this.#over) return ''
    switch (event.e) {
      case 'start':
        this.#head = event
        if (event.usage) this.#usage = { ...this.#usage, ...event.usage }
        return this.#start()
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'part_start':
      case 'delta':
      case 'part_stop':
        return event.choice === 0 ? this.#start() + this.#part(event) : ''
      case 'finish':
        if (event.choice === 0) this.#finish ??= event
        return ''
      case 'end':
        return this.#end(event.ext?.messages ?? {})
      default:
        return ''
    }
  }

  error(error: GatewayErrorShape): string {
    this.#over = true
    return errorFrame(error)
  }

  #start(): string {
    if (this.#started) return ''
    this.#started = true
    const own = this.#head.ext?.messages
    const message = {
      ...own,
      ...messageHead(this.#head, this.#codec),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: own?.container ?? null,
      diagnostics: own?.diagnostics ?? null,
      usage: encodeUsage(this.#usage, undefined),
    }
    return `event: message_start\ndata: {"type":"message_start","message":${JSON.stringify(message)}}\n\n`
  }

  #part(event: PartEvent): string {
    if (event.e === 'part_start') {
      if (event.kind === 'tool_call') this.#calls = true
      const block = new BlockStream(event.kind, event.meta, () => this.#index++)
      this.#parts.set(event.part, { block, held: [], stop: null })
      return this.#parts.size === 1 ? block.begin() : ''
    }
    const part = this.#parts.get(event.part)
    if (part === undefined) return ''
    const running = this.#parts.values().next().value === part
    if (event.e === 'delta') {
      if ('refusal' in event.d) this.#refusal += event.d.refusal
      if (running) return part.block.delta(event.d)
      part.held.push(event.d)
      return ''
    }
    part.stop = event
    this.#said.push(event.full)
    return running ? this.#advance() : ''
  }

  /** Writes the waiting parts in order, up to the first part that has not stopped. */
  #advance(): string {
    let out = ''
    for (const [number, { block, held, stop }] of this.#parts) {
      out += block.begin()
      for (const delta of held.splice(0)) out += block.delta(delta)
      if (stop === null) break
      out += block.end(stop.full)
      this.#parts.delete(number)
    }
    return out
  }

  #end({ container = null, ...own }: JsonObject): string {
    this.#over = true
    let out = this.#start() + this.#advance()
    for (const { block, held } of this.#parts.values()) {
      out += block.begin()
      for (const delta of held) out += block.delta(delta)
      out += block.end(null)
    }
    const finish = this.#finish ?? { finish: 'stop' as const }
    const delta = { ...stopFields(finish, this.#calls, this.#refusal), container }
    const usage = usageOrEstimate(this.#usage, this.#said, this.#codec)
    const event = { type: 'message_delta', delta, usage: { ...ownDeltaCounts(usage), ...encodeDeltaUsage(usage) }, ...own }
    return `${out}event: message_delta\ndata: ${JSON.stringify(event)}\n\n${MESSAGE_STOP}`
  }
}
