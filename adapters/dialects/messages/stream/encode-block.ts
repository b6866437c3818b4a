// Encodes one canonical part as the frames of one block. Text and thinking open with their first piece, so that no empty block is sent.
// One signature_delta comes directly before the stop.
import { stringify } from '../../../../core/json/raw-json.ts'
import { UNSIGNED } from '../../../../core/models/signature.ts'
import type { JsonObject, Part, ReasoningPart } from '../../../../core/types/request/canonical.ts'
import type { Delta, PartKind, PartMeta } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { callInput } from '../request/decode-tools.ts'
import { thinkingText } from '../response/block.ts'
import { callSignatureBlock, thinkingSignature, toolUseHead } from '../response/encode.ts'

export class BlockStream {
  readonly #kind: PartKind
  readonly #meta: PartMeta
  readonly #nextIndex: () => number
  #index = -1
  #began = false
  #wrote = false
  #signature = ''

  constructor(kind: PartKind, meta: PartMeta, nextIndex: () => number) {
    this.#kind = kind
    this.#meta = meta
    this.#nextIndex = nextIndex
  }

  /** Called when this block becomes the current one. A call is announced at once. */
  begin(): string {
    if (this.#began) return ''
    this.#began = true
    if (this.#kind !== 'tool_call') return ''
    const { id = '', name = '', namespace, signature, caller } = this.#meta
    const signed = callSignatureBlock(signature)
    const head = toolUseHead({
      id,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(caller === undefined ? {} : { caller }),
    })
    return (
      (signed === null ? '' : this.#signedThinking(loose(signed.signature as string))) +
      this.#open({ ...head, input: {} } as JsonObject)
    )
  }

  delta(delta: Delta): string {
    if ('text' in delta) return this.#text(delta.text)
    if ('args' in delta) return this.#meta.kind === 'custom' ? '' : this.#args(delta.args)
    if ('reasoning' in delta) return this.#thinking(delta.reasoning)
    if ('summary' in delta) return this.#thinking(delta.summary)
    if ('refusal' in delta) return this.#text(delta.refusal)
    if ('signature' in delta) this.#signature = thinkingSignature({ t: 'reasoning', text: '', signature: delta.signature })
    if ('annotation' in delta && delta.annotation.dialect === 'messages' && this.#kind === 'text') {
      return this.#openText() + this.#frame(`{"type":"citations_delta","citation":${JSON.stringify(delta.annotation.raw)}}`)
    }
    return ''
  }

  /** Ends the block. `full` is null when the part was cut off: an open block is closed. */
  end(full: Part | null): string {
    const rest = full === null ? this.#cutOff() : this.#remainder(full)
    return this.#index === -1 ? rest : rest + this.#close()
  }

  #remainder(full: Part): string {
    switch (full.t) {
      case 'text':
      case 'refusal':
        return this.#wrote ? '' : this.#text(full.text)
      case 'reasoning':
        if (full.redacted !== undefined) return this.#whole({ type: 'redacted_thinking', data: full.redacted })
        return (this.#wrote ? '' : this.#thinking(thinkingText(full))) + this.#signed(this.#secretOf(full))
      case 'tool_call': {
        if (full.kind === 'custom') return this.#args(stringify(callInput(full.args, true, () => {})))
        return this.#wrote || full.args.trim() === '' ? '' : this.#args(full.args)
      }
      case 'audio':
        return this.#text(full.transcript ?? '')
      case 'server_tool':
      case 'opaque':
        return full.dialect === 'messages' && isObject(full.raw) ? this.#raw(full.raw) : ''
      default:
        return ''
    }
  }

  /** The whole part has the final secret. An empty envelope is only for a thought that never got one. */
  #secretOf(full: ReasoningPart): string {
    const secret = thinkingSignature(full)
    return secret === '' || secret === UNSIGNED ? this.#signature || secret : secret
  }

  #cutOff(): string {
    return this.#kind === 'reasoning' ? this.#signed(this.#signature) : ''
  }

  #text(text: string): string {
    if (text === '') return ''
    this.#wrote = true
    return this.#openText() + this.#frame(`{"type":"text_delta","text":${JSON.stringify(text)}}`)
  }

  #openText(): string {
    return this.#index === -1 ? this.#open({ type: 'text', text: '' }) : ''
  }

  #thinking(text: string): string {
    if (text === '') return ''
    this.#wrote = true
    return this.#openThinking() + this.#frame(`{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`)
  }

  #openThinking(): string {
    return this.#index === -1 ? this.#open({ type: 'thinking', thinking: '', signature: '' }) : ''
  }

  #signed(signature: string): string {
    if (signature === '') return ''
    return this.#openThinking() + this.#frame(`{"type":"signature_delta","signature":${JSON.stringify(signature)}}`)
  }

  #args(json: string): string {
    if (json === '') return ''
    this.#wrote = true
    return this.#frame(`{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}`)
  }

  #signedThinking(signature: string): string {
    const out = this.#signed(signature) + this.#close()
    this.#index = -1
    return out
  }

  /** Sends a block of the vendor's own, in the vendor's pieces. */
  #raw(raw: JsonObject): string {
    if (raw.type === 'compaction') {
      return (
        this.#open({ ...raw, content: null }) +
        this.#frame(`{"type":"compaction_delta","content":${JSON.stringify(raw.content ?? null)}}`)
      )
    }
    if (raw.type !== 'server_tool_use' && raw.type !== 'mcp_tool_use') return this.#whole(raw)
    return this.#open({ ...raw, input: {} }) + this.#args(JSON.stringify(raw.input ?? {}))
  }

  #whole(block: JsonObject): string {
    return this.#open(block)
  }

  #open(block: JsonObject): string {
    this.#index = this.#nextIndex()
    return `event: content_block_start\ndata: {"type":"content_block_start","index":${this.#index},"content_block":${JSON.stringify(block)}}\n\n`
  }

  #frame(delta: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":${delta}}\n\n`
  }

  #close(): string {
    return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`
  }
}
