// Byte lane, request: model and verb move to the path, foreign secrets of an earlier turn go out, all else stays as sent.
import { decodeUtf8 } from '../../../core/lib/bytes.ts'
import { unwrapSignature } from '../../../core/lib/signature.ts'
import type { Json, JsonObject } from '../../../core/types/canonical.ts'
import type { Hop, WireBody } from '../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../core/types/ports.ts'
import { SENTINEL } from './encode-parts.ts'
import { requestPath } from './encode-request.ts'
import { isObject, listField } from './fields.ts'

export function spliceRequest(body: WireBody, hop: Hop, caller: HeaderBag): { path: string; headers: string[] } {
  for (const name of ['model', 'stream']) if (body.raw(name) !== undefined) body.remove(name)
  dropForeignSecrets(body, hop)
  const idempotencyKey = caller.get('idempotency-key')
  return { path: requestPath(hop.model, hop.stream), headers: idempotencyKey === null ? [] : ['idempotency-key', idempotencyKey] }
}

/** Our envelopes carry other vendors' secrets (base64 of "gw1" is "Z3cx"): Google would refuse the whole request. */
function dropForeignSecrets(body: WireBody, hop: Hop): void {
  if (!decodeUtf8(body.bytes).includes('"Z3cx')) return
  const contents = listField(body.json().contents as Json | undefined)
  // From the end, so that removals do not move what is still to come.
  for (let turn = contents.length - 1; turn >= 0; turn--) {
    const content = contents[turn]
    const parts = isObject(content) ? listField(content.parts ?? undefined) : []
    for (let place = parts.length - 1; place >= 0; place--) {
      const part = parts[place]
      if (isObject(part)) dropSecret(body, part, `contents.${turn}.parts.${place}`, parts.length, hop)
    }
  }
}

function dropSecret(body: WireBody, part: JsonObject, path: string, siblings: number, hop: Hop): void {
  const key = typeof part.thoughtSignature === 'string' ? 'thoughtSignature' : 'thought_signature'
  const text = part[key]
  if (typeof text !== 'string' || unwrapSignature(text) === null) return
  if (part.thought === true && siblings > 1) body.remove(path)
  else if (part.functionCall !== undefined && hop.caps.thoughtSignature === true) body.set(`${path}.${key}`, SENTINEL)
  else body.remove(`${path}.${key}`)
}
