// An answer in JSON.
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { Result } from '../../core/types/request/result.ts'

export function json(value: JsonObject): Result {
  return {
    kind: 'raw',
    status: 200,
    headers: ['content-type', 'application/json; charset=utf-8'],
    body: encodeUtf8(JSON.stringify(value)),
  }
}
