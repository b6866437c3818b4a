// Decodes the blocks of a stream: deltas when they arrive, secrets once at the end, server items whole.
import type { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { decodeSignature, isServerBlock } from '../request/decode-block.ts'
import { plainInput } from '../request/decode-tools.ts'
import { decodeCitation } from '../response/citations.ts'
import { structuredText } from '../response/decode.ts'
import { callerTool, jsonTool } from '../tool-names.ts'

interface OpenBlock {
  /** `custom`: its input is unwrapped when it is complete. */
  kind: 'text' | 'thinking' | 'tool' | 'custom' | 'structured' | 'whole'
  start: JsonObject
  /** Arguments so far, or the streamed pieces of a `whole` block. */
  text: string
  signature: string
  /** Citations may come before their text. */
  citations: Json[]
}

export class BlockReceiver {
  readonly #writer: PartWriter
  readonly #codec: CodecContext
  readonly #open = new Map<number, OpenBlock>()
  /** True when a client tool was called. */
  hasToolCall = false

  constructor(writer: PartWriter, codec: CodecContext) {
    this.#writer = writer
    this.#codec = codec
  }

  event(event: JsonObject, emit: Emit): void {
    const index = typeof event.index === 'number' ? event.index : 0
    if (event.type === 'content_block_start') {
      this.#stop(index, emit)
      this.#start(index, isObject(event.content_block) ? event.content_block : {}, emit)
    } else if (event.type === 'content_block_stop') this.#stop(index, emit)
    else {
      const block = this.#open.get(index)
      if (block !== undefined && isObject(event.delta)) this.#delta(index, block, event.delta, emit)
    }
  }

  /** Ends the blocks that the upstream left open. */
  close(emit: Emit): void {
    for (const index of [...this.#open.keys()]) this.#stop(index, emit)
    this.#writer.closeAll(0, emit)
  }

  #start(index: number, start: JsonObject, emit: Emit): void {
    const block: OpenBlock = { kind: kindOf(loose(start.type)), start, text: '', signature: '', citations: [] }
    this.#writer.closeCurrent(0, emit)
    if (block.kind === 'tool') this.#startTool(index, block, emit)
    this.#open.set(index, block)
    if (block.kind === 'text') {
      for (const citation of Array.isArray(start.citations) ? start.citations : []) block.citations.push(citation)
      this.#text(block, loose(start.text), emit)
    } else if (block.kind === 'thinking') {
      block.signature = loose(start.signature)
      this.#thinking(loose(start.thinking), emit)
    }
  }

  #startTool(index: number, block: OpenBlock, emit: Emit): void {
    const upstream = loose(block.start.name)
    if (upstream !== '' && upstream === jsonTool(this.#codec)?.name) {
      block.kind = 'structured'
      return
    }
    const { name, namespace, custom } = callerTool(upstream, this.#codec)
    if (custom) block.kind = 'custom'
    const id = loose(block.start.id)
    const { caller } = block.start
    this.hasToolCall = true
    this.#writer.toolStart(
      0,
      index,
      {
        id: id || this.#codec.id('toolu_'),
        idMinted: id === '',
        name,
        kind: custom ? 'custom' : 'function',
        ...(namespace === undefined ? {} : { namespace }),
        ...(isObject(caller) && caller.type !== 'direct' ? { caller } : {}),
      },
      emit,
    )
  }

  #delta(index: number, block: OpenBlock, delta: JsonObject, emit: Emit): void {
    switch (delta.type) {
      case 'text_delta':
        return this.#text(block, loose(delta.text), emit)
      case 'thinking_delta':
        return this.#thinking(loose(delta.thinking), emit)
      case 'signature_delta':
        block.signature = loose(delta.signature)
        return
      case 'citations_delta':
        if (delta.citation !== undefined) block.citations.push(delta.citation)
        if (block.text !== '') this.#cite(block, emit)
        return
      case 'input_json_delta':
        return this.#json(index, block, loose(delta.partial_json), emit)
      case 'compaction_delta':
        block.text += loose(delta.content)
    }
  }

  #text(block: OpenBlock, text: string, emit: Emit): void {
    if (text === '') return
    this.#writer.text(0, text, emit)
    block.text = text
    if (block.citations.length > 0) this.#cite(block, emit)
  }

  /** A block without text and signature is not a part. */
  #thinking(text: string, emit: Emit): void {
    if (text !== '') this.#writer.reasoning(0, text, emit)
  }

  #cite(block: OpenBlock, emit: Emit): void {
    for (const raw of block.citations.splice(0)) {
      const annotation = decodeCitation(raw)
      if (annotation !== null) this.#writer.annotation(0, annotation, emit)
    }
  }

  #json(index: number, block: OpenBlock, json: string, emit: Emit): void {
    block.text += json
    if (block.kind === 'tool') this.#writer.toolArgs(0, index, json, emit)
    else if (block.kind === 'structured' && jsonTool(this.#codec)?.wrapped === false) this.#writer.text(0, json, emit)
  }

  #stop(index: number, emit: Emit): void {
    const block = this.#open.get(index)
    if (block === undefined) return
    this.#open.delete(index)
    if (block.kind === 'custom') {
      this.#writer.toolArgs(0, index, plainInput(block.text === '' ? startInput(block.start) : block.text), emit)
      return this.#writer.toolStop(0, index, emit)
    }
    if (block.kind === 'tool') {
      // Some vendors put the whole input into the start event.
      if (block.text === '') this.#writer.toolArgs(0, index, startInput(block.start), emit)
      return this.#writer.toolStop(0, index, emit)
    }
    if (block.kind === 'structured') this.#structured(block, emit)
    else if (block.kind === 'thinking' && block.signature !== '') {
      this.#writer.signature(0, decodeSignature(block.signature, this.#codec.caps.family), emit)
    } else if (block.kind === 'whole') this.#whole(block, emit)
    this.#writer.closeCurrent(0, emit)
  }

  #structured(block: OpenBlock, emit: Emit): void {
    const tool = jsonTool(this.#codec)
    if (tool === null) return
    const given = block.text === '' ? startInput(block.start) : block.text
    if (tool.wrapped || block.text === '') this.#writer.text(0, structuredText(given, tool), emit)
  }

  #whole({ start, text }: OpenBlock, emit: Emit): void {
    const type = loose(start.type)
    if (type === 'redacted_thinking') {
      const redacted = loose(start.data)
      if (redacted === '') return
      const part: Part = { t: 'reasoning', text: '', redacted, encrypted: decodeSignature(redacted, this.#codec.caps.family) }
      return this.#writer.whole(0, 'redacted', part, emit)
    }
    const raw: JsonObject =
      text === '' ? start : type === 'compaction' ? { ...start, content: text } : { ...start, input: parsed(text) }
    const part: Part = isServerBlock(type)
      ? { t: 'server_tool', dialect: 'messages', kind: type, raw }
      : { t: 'opaque', dialect: 'messages', raw }
    this.#writer.whole(0, 'server_tool', part, emit)
  }
}

function kindOf(type: string): OpenBlock['kind'] {
  if (type === 'text' || type === 'thinking') return type
  return type === 'tool_use' ? 'tool' : 'whole'
}

function startInput(start: JsonObject): string {
  return isObject(start.input) && Object.keys(start.input).length > 0 ? JSON.stringify(start.input) : ''
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return {}
  }
}
