// Encodes canonical events as a stream for a chat caller: the role first, then the deltas, a finish per choice, the usage frame if
// requested, [DONE].
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { estimateUsage } from '../../../../core/models/token-estimate.ts'
import { mergeUsage } from '../../../../core/stream/collect.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, StreamEncoder } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { withOpenAiTier } from '../../shared/service-tier.ts'
import { isUnreported } from '../../shared/unreported-usage.ts'
import { answerId } from '../response/encode-answer.ts'
import { ChoiceEncoder } from '../response/encode-choice.ts'
import { encodeUsage } from '../usage.ts'
import { type ChunkHead, type ChunkWriter, chunkWriter, DONE, errorFrame, lateChunk } from './chunk.ts'

export function encodeStream(codec: CodecContext): StreamEncoder {
  return new ChatStreamEncoder(codec)
}

class ChatStreamEncoder implements StreamEncoder {
  readonly #codec: CodecContext
  readonly #choices = new Map<number, ChoiceEncoder>()
  #head: ChunkHead | null = null
  #writer: ChunkWriter | null = null
  #usage: Usage | null = null
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  event(event: StreamEvent): string {
    if (this.#over) return ''
    switch (event.e) {
      case 'start':
        this.#begin(event)
        if (event.usage) this.#usage = mergeUsage(this.#usage, event.usage)
        return ''
      case 'part_start':
      case 'delta':
      case 'part_stop':
        return this.#choice(event.choice).part(event)
      case 'usage':
        this.#usage = mergeUsage(this.#usage, event.usage)
        return ''
      case 'finish':
        if (event.finish === 'error') return this.error(GatewayError.protocol('The upstream gave up on its answer.'))
        if (event.finish === 'pause') this.#codec.warn('pause_turn')
        return this.#choice(event.choice).finish(event.finish, event.native, event.ext?.chat)
      case 'end':
        return this.#end(event.ext?.chat)
      default:
        return ''
    }
  }

  error(error: GatewayErrorShape): string {
    if (this.#over) return ''
    this.#over = true
    return errorFrame(this.#begin(), error)
  }

  #choice(index: number): ChoiceEncoder {
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      this.#begin()
      choice = new ChoiceEncoder(index, this.#writer as ChunkWriter, this.#codec)
      this.#choices.set(index, choice)
    }
    return choice
  }

  /** The start event sets the head, or the first event that needs it. */
  #begin(start?: Extract<StreamEvent, { e: 'start' }>): ChunkHead {
    if (this.#head === null) {
      this.#head = {
        id: answerId(start?.id ?? '', this.#codec.id),
        created: start?.created || Math.floor(this.#codec.now() / 1000),
        model: start?.model || this.#codec.model,
      }
      this.#writer = chunkWriter(this.#head, withOpenAiTier(start?.ext?.chat))
    }
    return this.#head
  }

  #end(later: JsonObject | undefined): string {
    if (this.#choices.size === 0) this.#choice(0)
    let out = ''
    let bytes = 0
    for (const choice of this.#choices.values()) {
      out += choice.finish('stop', '')
      bytes += choice.contentBytes
    }
    this.#over = true
    const own = withOpenAiTier(later)
    if (own !== undefined && Object.keys(own).length > 0) out += lateChunk(this.#begin(), own)
    if (this.#codec.includeUsage) {
      out += (this.#writer as ChunkWriter).usage(encodeUsage(this.#counted(bytes)))
    }
    return out + DONE
  }

  /** The usage frame was promised, so an estimate replaces a missing report. */
  #counted(bytes: number): Usage {
    if (this.#usage !== null && !isUnreported(this.#usage)) return this.#usage
    this.#codec.warn('estimated_tokens')
    return estimateUsage(this.#codec.request, bytes)
  }
}
