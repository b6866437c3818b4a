// Decodes the event stream of ConverseStream into canonical events.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { BytesDecoder, CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { streamError } from '../errors.ts'
import { decodeFinish } from '../finish.ts'
import { signatureOf } from '../response.ts'
import { callerTool, plainInput } from '../tool-names.ts'
import { decodeUsage } from '../usage.ts'
import { type EventMessage, EventStreamSplitter } from './event-stream.ts'

export function decodeBytes(codec: CodecContext): BytesDecoder {
  return new ConverseStream(codec)
}

interface OpenTool {
  readonly custom: boolean
  args: string
}

class ConverseStream implements BytesDecoder {
  readonly #codec: CodecContext
  readonly #splitter = new EventStreamSplitter()
  readonly #writer = new PartWriter()
  readonly #tools = new Map<number, OpenTool>()
  #started = false
  #called = false
  #stopReason: string | null = null
  #usage: Usage | null = null
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  chunk(bytes: Uint8Array, emit: Emit): void {
    for (const message of this.#splitter.push(bytes)) if (!this.#over) this.#message(message, emit)
  }

  end(emit: Emit): void {
    if (this.#over) return
    this.#over = true
    if (this.#stopReason !== null && !this.#splitter.pending) return this.#finish(this.#stopReason, emit)
    this.#writer.closeAll(0, emit)
    if (this.#usage !== null) emit({ e: 'usage', usage: this.#usage })
    emit({ e: 'error', status: 502, message: 'The upstream ended the stream before its last event.', retryable: true })
  }

  #message({ headers, payload }: EventMessage, emit: Emit): void {
    const kind = headers.get(':message-type') ?? 'event'
    if (kind !== 'event') {
      const name = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'exception'
      this.#over = true
      this.#writer.closeAll(0, emit)
      emit({ e: 'error', ...streamError(name, payload) })
      return
    }
    this.#start(emit)
    this.#event(headers.get(':event-type') ?? '', payloadOf(payload), emit)
  }

  #start(emit: Emit): void {
    if (this.#started) return
    this.#started = true
    const { model } = this.#codec
    emit({ e: 'start', id: this.#codec.id('msg_'), model, created: Math.floor(this.#codec.now() / 1000) })
  }

  #event(type: string, event: JsonObject, emit: Emit): void {
    const index = typeof event.contentBlockIndex === 'number' ? event.contentBlockIndex : 0
    switch (type) {
      case 'contentBlockStart':
        if (isObject(event.start) && isObject(event.start.toolUse)) this.#tool(index, event.start.toolUse, emit)
        return
      case 'contentBlockDelta':
        if (isObject(event.delta)) this.#delta(index, event.delta, emit)
        return
      case 'contentBlockStop':
        return this.#stop(index, emit)
      case 'messageStop':
        this.#stopReason = loose(event.stopReason)
        return
      case 'metadata':
        this.#usage = decodeUsage(event.usage)
        // The last event. Some models send the reason after it.
        if (this.#stopReason !== null) {
          this.#over = true
          this.#finish(this.#stopReason, emit)
        }
    }
  }

  #tool(index: number, { toolUseId, name }: JsonObject, emit: Emit): void {
    const { custom, ...tool } = callerTool(loose(name), this.#codec)
    const id = loose(toolUseId)
    this.#called = true
    this.#tools.set(index, { custom, args: '' })
    const meta = { id: id || this.#codec.id('tooluse_'), idMinted: id === '', ...tool }
    this.#writer.toolStart(0, index, { ...meta, kind: custom ? 'custom' : 'function' }, emit)
  }

  #delta(index: number, delta: JsonObject, emit: Emit): void {
    if (typeof delta.text === 'string') return this.#writer.text(0, delta.text, emit)
    if (isObject(delta.toolUse)) {
      const tool = this.#tools.get(index)
      const args = loose(delta.toolUse.input)
      if (tool === undefined) return
      tool.args += args
      if (!tool.custom) this.#writer.toolArgs(0, index, args, emit)
      return
    }
    if (!isObject(delta.reasoningContent)) return
    const { text, signature, redactedContent } = delta.reasoningContent
    if (typeof text === 'string') this.#writer.reasoning(0, text, emit)
    if (typeof signature === 'string' && signature !== '') this.#writer.signature(0, signatureOf(signature, this.#codec), emit)
    if (typeof redactedContent === 'string') {
      const encrypted = signatureOf(redactedContent, this.#codec)
      this.#writer.whole(0, 'redacted', { t: 'reasoning', text: '', redacted: redactedContent, encrypted }, emit)
    }
  }

  #stop(index: number, emit: Emit): void {
    const tool = this.#tools.get(index)
    if (tool === undefined) return this.#writer.closeCurrent(0, emit)
    this.#tools.delete(index)
    if (tool.custom) this.#writer.toolArgs(0, index, plainInput(tool.args), emit)
    else if (tool.args === '') this.#writer.toolArgs(0, index, '{}', emit)
    this.#writer.toolStop(0, index, emit)
  }

  #finish(native: string, emit: Emit): void {
    for (const index of [...this.#tools.keys()]) this.#stop(index, emit)
    this.#writer.closeAll(0, emit)
    if (this.#usage !== null) emit({ e: 'usage', usage: this.#usage })
    emit({ e: 'finish', choice: 0, finish: decodeFinish(native, this.#called), native })
    emit({ e: 'end' })
  }
}

/** @throws GatewayError.protocol */
function payloadOf(bytes: Uint8Array): JsonObject {
  try {
    const parsed: unknown = JSON.parse(decodeUtf8(bytes))
    if (isObject(parsed)) return parsed
  } catch {}
  throw GatewayError.protocol('The upstream sent an event that is not JSON.')
}
