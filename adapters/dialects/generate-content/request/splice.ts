// Edits the request on the byte lane: model and operation move to the path, and other vendors' secrets of earlier turns are removed.
// Everything else stays as sent.
import { isEnvelope } from '../../../../core/models/signature.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type { Json } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import { isObject, listField } from '../fields.ts'
import { SENTINEL } from '../response/encode-parts.ts'
import { wrapperOf } from './count-tokens.ts'
import { requestPath } from './encode.ts'

const MAX_SPLICES = 32

export function spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] } {
  for (const name of ['model', 'stream']) if (body.raw(name) !== undefined) body.remove(name)
  const wrapper = codec.operation === 'count_tokens' ? wrapperOf(body) : null
  // Google needs the model there, under its own name.
  if (wrapper !== null) body.set(`${wrapper}.model`, `models/${codec.model}`)
  dropForeignSecrets(body, codec, wrapper === null ? 'contents' : `${wrapper}.contents`)
  const idempotencyKey = caller.get('idempotency-key')
  return { path: requestPath(codec, codec.stream), headers: idempotencyKey === null ? [] : ['idempotency-key', idempotencyKey] }
}

/** Our envelopes carry other vendors' secrets (base64 of "gw1" is "Z3cx"). Google would refuse the whole request. */
function dropForeignSecrets(body: WireBody, codec: CodecContext, at: string): void {
  if (!body.mayName('thoughtSignature') && !body.mayName('thought_signature')) return
  const [member] = at.split('.') as [string]
  if (!body.contains(member, '"Z3cx') && !body.contains(member, '"gw1.')) return
  const contents = listField(body.get(at))
  const edits = contents.flatMap((content, turn) => editsOf(content, `${at}.${turn}.parts`, codec))
  // Each splice copies the body, so many edits rewrite the contents as a whole.
  if (edits.length > MAX_SPLICES)
    body.set(
      at,
      contents.map((content) => cleaned(content, codec)),
    )
  // From the end, so that a removed part does not shift those still to be edited.
  else for (const { path, value } of edits.reverse()) value === undefined ? body.remove(path) : body.set(path, value)
}

interface Edit {
  path: string
  /** undefined: the member is removed. */
  value: string | undefined
}

function editsOf(content: Json, at: string, codec: CodecContext): Edit[] {
  return partsOf(content).flatMap((part, place) => {
    const secret = foreignSecret(part)
    if (secret === null) return []
    if (isThought(part)) return [{ path: `${at}.${place}`, value: undefined }]
    return [{ path: `${at}.${place}.${secret}`, value: replacement(part, codec) }]
  })
}

function cleaned(content: Json, codec: CodecContext): Json {
  if (!isObject(content)) return content
  const parts = partsOf(content).flatMap((part) => {
    const secret = foreignSecret(part)
    if (secret === null || !isObject(part)) return [part]
    if (isThought(part)) return []
    const { [secret]: _, ...rest } = part
    const value = replacement(part, codec)
    return [value === undefined ? rest : { ...rest, [secret]: value }]
  })
  return { ...content, parts }
}

function partsOf(content: Json): Json[] {
  return isObject(content) ? listField(content.parts ?? undefined) : []
}

/** Returns the key under which a part carries one of our envelopes. */
function foreignSecret(part: Json): string | null {
  if (!isObject(part)) return null
  const key = 'thoughtSignature' in part ? 'thoughtSignature' : 'thought_signature'
  const text = part[key]
  return typeof text === 'string' && isEnvelope(text) ? key : null
}

function isThought(part: Json): boolean {
  return isObject(part) && part.thought === true
}

function replacement(part: Json, codec: CodecContext): string | undefined {
  const isCall = isObject(part) && (part.functionCall ?? part.function_call) !== undefined
  return isCall && codec.caps.thoughtSignature === true ? SENTINEL : undefined
}
