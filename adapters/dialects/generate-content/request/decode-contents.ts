// Decodes contents[] into canonical messages. Calls without ids get stable ones. Results are paired by id, otherwise first in first out
// per name, otherwise by position, as Google does.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { hasBigNumber } from '../../../../core/json/raw-json.ts'
import type { Json, JsonObject, Message, Part, SystemBlock, ToolResultPart } from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { hash8, hash16 } from '../../shared/names.ts'
import { fieldsOf, isObject, listField, textField } from '../fields.ts'
import { type RawParts, rawParts } from '../response/raw-parts.ts'
import { unpackThoughts } from '../thought-carrier.ts'
import { type CallPairing, callPairing } from './call-pairing.ts'
import { appendModelTurn } from './coalesce.ts'
import { decodePart, media, partExt, signatureOf } from './decode-parts.ts'

interface Reader {
  raw: RawParts
  calls: CallPairing
  turn: number
}

export function decodeContents(value: Json | undefined, body: WireBody): Message[] {
  if (value === undefined || (!Array.isArray(value) && !isObject(value))) {
    throw GatewayError.invalid('contents', '`contents` is required and must be an array.')
  }
  const reader: Reader = { raw: rawParts(body), calls: callPairing(), turn: 0 }
  const out: Message[] = []
  for (const [index, entry] of listField(value).entries()) {
    const content = fieldsOf(entry, `contents.${index}`)
    const role = textField(content.role, `contents.${index}.role`) ?? 'user'
    reader.turn = index
    const at = `contents.${index}`
    if (role === 'model') appendModelTurn(out, modelParts(reader, content, at))
    else if (role === 'user' || role === 'function' || role === 'tool' || role === '') userParts(reader, content, at, out)
    else if (role === 'system') push(out, 'system', plainParts(content, at))
    else throw GatewayError.invalid(`contents.${index}.role`, 'A role must be `user` or `model`.')
  }
  // Done at the end, because a client may send one answer as many contents.
  for (const message of out) if (message.role === 'assistant') message.parts = unpackThoughts(message.parts)
  return out
}

/** Decodes systemInstruction: a string, a Content, or bare parts. */
export function decodeSystem(value: Json | undefined): SystemBlock[] {
  if (value === undefined) return []
  const content: JsonObject =
    typeof value === 'string'
      ? { parts: [{ text: value }] }
      : Array.isArray(value)
        ? { parts: value }
        : fieldsOf(value, 'systemInstruction')
  const parts = plainParts(
    content.parts === undefined && content.text !== undefined ? { parts: [content] } : content,
    'systemInstruction',
  )
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function push(out: Message[], role: Message['role'], parts: Part[]): void {
  if (parts.length > 0) out.push({ role, parts })
}

function plainParts(content: JsonObject, at: string): Part[] {
  return wireParts(content, at)
    .map(([part, path]) => decodePart(part, path))
    .filter((part) => part !== null)
}

function modelParts(reader: Reader, content: JsonObject, at: string): Part[] {
  const out: Part[] = []
  for (const [place, [part, path]] of wireParts(content, at).entries()) {
    const decoded = part.functionCall === undefined ? decodePart(part, path) : call(reader, part, place, path)
    if (decoded !== null) out.push(decoded)
  }
  return out
}

/** Results become a `tool` message before the user message with the other parts. */
function userParts(reader: Reader, content: JsonObject, at: string, out: Message[]): void {
  const results: Part[] = []
  const rest: Part[] = []
  for (const [place, [part, path]] of wireParts(content, at).entries()) {
    if (part.functionResponse !== undefined) results.push(result(reader, part, place, path))
    else {
      const decoded = decodePart(part, path)
      if (decoded !== null) rest.push(decoded)
    }
  }
  push(out, 'tool', results)
  push(out, 'user', rest)
}

function wireParts(content: JsonObject, at: string): [JsonObject, string][] {
  return listField(content.parts).map((part, index) => {
    const path = `${at}.parts.${index}`
    return [typeof part === 'string' ? { text: part } : fieldsOf(part, path), path]
  })
}

function call(reader: Reader, part: JsonObject, place: number, path: string): Part {
  const wire = fieldsOf(part.functionCall as Json, `${path}.functionCall`)
  const name = textField(wire.name, `${path}.functionCall.name`) ?? ''
  const given = textField(wire.id, `${path}.functionCall.id`) ?? ''
  const args = jsonText(reader, wire.args ?? {}, place, ['functionCall', 'args'])
  const signature = signatureOf(part, path)
  const ext = partExt(part)
  // Derived, not random: the same history gives the same ids, so that prompt caches still match.
  const seed = `${reader.calls.count} ${name} ${args}`
  const id = given || `call_${hash16(seed)}${hash8(`${seed} `)}`
  reader.calls.call(id, name, reader.turn)
  return {
    t: 'tool_call',
    id,
    idMinted: given === '',
    name,
    args,
    kind: 'function',
    ...(signature ? { signature } : {}),
    ...(ext ? { ext: { generate_content: ext } } : {}),
  }
}

function result(reader: Reader, part: JsonObject, place: number, path: string): ToolResultPart {
  const wire = fieldsOf(part.functionResponse as Json, `${path}.functionResponse`)
  const name = textField(wire.name, `${path}.functionResponse.name`) ?? ''
  const id = textField(wire.id, `${path}.functionResponse.id`) ?? ''
  const match = reader.calls.answer(id, name)
  const response = isObject(wire.response) ? wire.response : wire.response === undefined ? {} : { output: wire.response }
  const isError = Object.keys(response).length === 1 && response.error !== undefined
  const text = resultText(reader, response, place)
  const parts: Part[] = text === '' ? [] : [{ t: 'text', text }]
  for (const [index, entry] of listField(wire.parts).entries()) {
    const at = `${path}.functionResponse.parts.${index}`
    const inner = fieldsOf(entry, at)
    if (inner.inlineData !== undefined || inner.fileData !== undefined) parts.push(media(inner, at))
  }
  return {
    t: 'tool_result',
    callId: match?.id ?? (id || `call_${hash16(`${path} ${name}`)}${hash8(name)}`),
    ...(match?.name || name ? { name: match?.name || name } : {}),
    parts,
    json: response,
    ...(isError ? { isError } : {}),
  }
}

/** Returns the text for other dialects: `{output}` and `{error}` alone are unwrapped, any other object stays JSON. */
function resultText(reader: Reader, response: JsonObject, place: number): string {
  const keys = Object.keys(response)
  const only = keys.length === 1 ? (keys[0] as string) : ''
  if (only === 'output' || only === 'error') {
    const value = response[only] as Json
    return typeof value === 'string' ? value : jsonText(reader, value, place, ['functionResponse', 'response', only])
  }
  return keys.length === 0 ? '' : jsonText(reader, response, place, ['functionResponse', 'response'])
}

/** Returns the value's JSON text, from the bytes when printing it again could change a number. */
function jsonText(reader: Reader, value: Json, place: number, path: readonly [string, ...string[]]): string {
  const text = JSON.stringify(value)
  if (!hasBigNumber(text)) return text
  const [first, ...rest] = path
  const snake = first.replace(/[A-Z]/, (char) => `_${char.toLowerCase()}`)
  return reader.raw.at(reader.turn, place, [path, [snake, ...rest]]) ?? text
}
