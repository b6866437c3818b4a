// Decodes input (a string or items) into system blocks and messages. Items of one model turn become one assistant message. A second
// message item starts a new one, so that ids and phases stay separate. Consecutive outputs are one tool message.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { randomId } from '../../../../core/ids/ids.ts'
import type {
  Annotation,
  DocumentPart,
  Json,
  JsonObject,
  Message,
  Part,
  Signature,
  Source,
  SystemBlock,
  ToolCallPart,
} from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { parseDataUrl } from '../../shared/data-url.ts'
import { isObject, listField, textField } from '../../shared/fields.ts'
import { decodeAnnotation } from '../response/annotations.ts'
import { carriesCallSignature, decodeReasoning } from '../secrets.ts'

/** Items that other dialects do not have and that hold state. */
const OPAQUE: ReadonlySet<string> = new Set([
  'item_reference',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'additional_tools',
  'ghost_snapshot',
])

export function decodeInput(body: WireBody, input: Json | undefined): { system: SystemBlock[]; messages: Message[] } {
  const reader = new InputReader(body)
  if (typeof input === 'string') {
    if (input !== '') reader.messages.push({ role: 'user', parts: [{ t: 'text', text: input }] })
  } else if (Array.isArray(input)) {
    for (const [index, item] of input.entries()) {
      if (typeof item === 'string') reader.message({ role: 'user', content: item }, `input[${index}]`)
      else if (isObject(item)) reader.item(item, index)
      else throw GatewayError.invalid(`input[${index}]`, `\`input[${index}]\` must be an object.`)
    }
    reader.end()
  } else if (input !== undefined && input !== null) {
    throw GatewayError.invalid('input', '`input` must be a string or an array.')
  }
  return { system: reader.system, messages: reader.messages }
}

/** A reference may omit its type. */
function isBareReference(item: JsonObject): boolean {
  return typeof item.id === 'string' && item.role === undefined && item.content === undefined
}

// Content parts of messages and tool outputs.
const MIME_OF_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
}

/** Decodes a string or a list of parts; empty text parts without a cache mark are dropped. */
function decodeContent(content: Json | undefined, at: string): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  if (!Array.isArray(content)) throw GatewayError.invalid(at, `\`${at}\` must be a string or an array.`)
  const parts: Part[] = []
  for (const [index, wire] of content.entries()) {
    const where = `${at}[${index}]`
    if (typeof wire === 'string') {
      if (wire !== '') parts.push({ t: 'text', text: wire })
      continue
    }
    if (!isObject(wire)) throw GatewayError.invalid(where, `\`${where}\` must be an object.`)
    const part = decodePart(wire, where)
    if (isObject(wire.prompt_cache_breakpoint)) part.cache = {}
    if (part.t !== 'text' || part.text !== '' || part.cache !== undefined) parts.push(part)
  }
  return parts
}

function decodePart(wire: JsonObject, at: string): Part {
  switch (wire.type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const annotations = (listField(wire, 'annotations', `${at}.annotations`) ?? [])
        .map(decodeAnnotation)
        .filter((one): one is Annotation => one !== null)
      return {
        t: 'text',
        text: textField(wire, 'text', `${at}.text`) ?? '',
        ...(annotations.length === 0 ? {} : { annotations }),
      }
    }
    case 'refusal':
      return { t: 'refusal', text: textField(wire, 'refusal', `${at}.refusal`) ?? '' }
    case 'input_image': {
      const detail = textField(wire, 'detail', `${at}.detail`)
      return { t: 'image', src: imageSource(wire, at), ...(detail === undefined ? {} : { detail }) }
    }
    case 'input_file':
      return decodeFile(wire, at)
    case 'input_audio': {
      const audio = isObject(wire.input_audio) ? wire.input_audio : wire
      const data = textField(audio, 'data', `${at}.input_audio.data`)
      const format = textField(audio, 'format', `${at}.input_audio.format`) ?? 'wav'
      if (!data) throw GatewayError.invalid(`${at}.input_audio.data`, `\`${at}.input_audio.data\` is required.`)
      return { t: 'audio', src: { kind: 'base64', data, mime: `audio/${format}` }, format }
    }
    default:
      if (typeof wire.type !== 'string') throw GatewayError.invalid(`${at}.type`, `\`${at}.type\` must be a string.`)
      return { t: 'opaque', dialect: 'responses', raw: wire }
  }
}

function imageSource(wire: JsonObject, at: string): Source {
  // Here it is a string; chat's object is accepted too.
  const url = isObject(wire.image_url)
    ? textField(wire.image_url, 'url', `${at}.image_url.url`)
    : textField(wire, 'image_url', `${at}.image_url`)
  if (url) return urlSource(url)
  const id = textField(wire, 'file_id', `${at}.file_id`)
  if (id) return { kind: 'file', id }
  throw GatewayError.invalid(`${at}.image_url`, `\`${at}\` needs \`image_url\` or \`file_id\`.`)
}

function urlSource(url: string): Source {
  const inline = parseDataUrl(url)
  return inline === null ? { kind: 'url', url } : { kind: 'base64', ...inline }
}

function decodeFile(wire: JsonObject, at: string): DocumentPart {
  const filename = textField(wire, 'filename', `${at}.filename`)
  const data = textField(wire, 'file_data', `${at}.file_data`)
  const url = textField(wire, 'file_url', `${at}.file_url`)
  const id = textField(wire, 'file_id', `${at}.file_id`)
  const named = filename === undefined ? {} : { filename }
  if (data) {
    const mime = MIME_OF_EXTENSION[filename?.split('.').pop()?.toLowerCase() ?? 'pdf'] ?? 'application/pdf'
    const inline = parseDataUrl(data) ?? { mime, data }
    return { t: 'document', src: { kind: 'base64', ...inline }, mime: inline.mime, ...named }
  }
  if (url) return { t: 'document', src: urlSource(url), ...named }
  if (id) return { t: 'document', src: { kind: 'file', id }, ...named }
  throw GatewayError.invalid(`${at}.file_data`, `\`${at}\` needs \`file_data\`, \`file_url\` or \`file_id\`.`)
}

class InputReader {
  readonly system: SystemBlock[] = []
  readonly messages: Message[] = []
  readonly #body: WireBody
  /** Names by call id, for the outputs. */
  readonly #names = new Map<string, string>()
  /** The assistant message that already holds a message item. */
  #spoken: Message | null = null
  /** A signature that waits for its call. */
  #carried: { part: Part; signature: Signature } | null = null

  constructor(body: WireBody) {
    this.#body = body
  }

  item(item: JsonObject, index: number): void {
    const at = `input[${index}]`
    const type = textField(item, 'type', `${at}.type`) ?? (isBareReference(item) ? 'item_reference' : 'message')
    if (type !== 'function_call' && type !== 'custom_tool_call') this.end()
    if (type === 'message') this.message(item, at)
    else if (type === 'function_call' || type === 'custom_tool_call') this.#call(item, index, type === 'custom_tool_call')
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') this.#output(item, index)
    else if (type === 'reasoning') this.#reasoning(item)
    else if (OPAQUE.has(type)) this.#assistant().parts.push({ t: 'opaque', dialect: 'responses', raw: item })
    else this.#assistant().parts.push({ t: 'server_tool', dialect: 'responses', kind: type, raw: item })
  }

  message(item: JsonObject, at: string): void {
    const role = textField(item, 'role', `${at}.role`)
    const parts = decodeContent(item.content, `${at}.content`)
    if (role === 'system' || role === 'developer') {
      if (parts.length === 0) return
      if (this.messages.length === 0) this.system.push({ role, parts })
      else this.messages.push({ role, parts })
    } else if (role === 'user') {
      if (parts.length > 0) this.messages.push({ role, parts })
    } else if (role === 'assistant') {
      if (parts.length > 0) this.#spokenMessage(item, at).parts.push(...parts)
    } else {
      throw GatewayError.invalid(`${at}.role`, `\`${at}.role\` must be user, assistant, system or developer.`)
    }
  }

  /** A carried signature without its call becomes a reasoning part. */
  end(): void {
    if (this.#carried === null) return
    const { part } = this.#carried
    this.#carried = null
    this.#assistant().parts.push(part)
  }

  #spokenMessage(item: JsonObject, at: string): Message {
    let last = this.#assistant()
    if (last === this.#spoken) {
      last = { role: 'assistant', parts: [] }
      this.messages.push(last)
    }
    this.#spoken = last
    const id = textField(item, 'id', `${at}.id`)
    const status = textField(item, 'status', `${at}.status`)
    if (id !== undefined) last.id = id
    if (status !== undefined) last.status = status
    if (item.phase === 'commentary' || item.phase === 'final_answer') last.phase = item.phase
    return last
  }

  #call(item: JsonObject, index: number, custom: boolean): void {
    const at = `input[${index}]`
    const name = textField(item, 'name', `${at}.name`)
    if (!name) throw GatewayError.invalid(`${at}.name`, `\`${at}.name\` is required.`)
    const callId = textField(item, 'call_id', `${at}.call_id`)
    const id = callId || randomId('call_')
    const namespace = textField(item, 'namespace', `${at}.namespace`)
    const itemId = textField(item, 'id', `${at}.id`)
    const part: ToolCallPart = {
      t: 'tool_call',
      id,
      idMinted: !callId,
      name,
      args: custom ? (textField(item, 'input', `${at}.input`) ?? '') : this.#text(item.arguments, `input.${index}.arguments`),
      kind: custom ? 'custom' : 'function',
      ...(namespace === undefined ? {} : { namespace }),
      ...(itemId === undefined ? {} : { itemId }),
      ...(item.caller === undefined || item.caller === null ? {} : { caller: item.caller }),
      ...(this.#carried === null ? {} : { signature: this.#carried.signature }),
    }
    this.#carried = null
    this.#names.set(id, name)
    this.#assistant().parts.push(part)
  }

  #output(item: JsonObject, index: number): void {
    const at = `input[${index}]`
    const callId = textField(item, 'call_id', `${at}.call_id`)
    if (!callId) throw GatewayError.invalid(`${at}.call_id`, `\`${at}.call_id\` is required.`)
    const { output } = item
    const plain = typeof output === 'string' || Array.isArray(output) || output === null || output === undefined
    const parts = decodeContent(plain ? output : this.#text(output, `input.${index}.output`), `${at}.output`)
    const name = this.#names.get(callId)
    const last = this.messages.at(-1)
    const target: Message = last?.role === 'tool' ? last : { role: 'tool', parts: [] }
    if (target !== last) this.messages.push(target)
    target.parts.push({ t: 'tool_result', callId, parts, ...(name === undefined ? {} : { name }) })
  }

  #reasoning(item: JsonObject): void {
    const part = decodeReasoning(item, '')
    if (part === null) return
    if (carriesCallSignature(part) && part.signature !== undefined) this.#carried = { part, signature: part.signature }
    else this.#assistant().parts.push(part)
  }

  #assistant(): Message {
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') return last
    const message: Message = { role: 'assistant', parts: [] }
    this.messages.push(message)
    return message
  }

  /** Returns text unchanged, and any other value as its original JSON text, so that numbers keep every digit. */
  #text(value: Json | undefined, path: string): string {
    if (value === undefined || value === null) return ''
    return typeof value === 'string' ? value : (this.#body.raw(path) ?? JSON.stringify(value))
  }
}
