// The OpenAI Responses dialect, both sides.
//
// Conventions between this driver and the others:
// - Custom tools. A canonical call with `kind: 'custom'` has the plain input text as its `args` (custom-tool.ts). A target
//   that flattens the tool to a function notes `custom:<upstream name>` = true in `codec.notes`, and its decoder restores
//   `kind: 'custom'` and the text. This encoder reads nothing but `part.kind` (`meta.kind` in streams).
// - Namespaces. A target that flattens `ns` + `name` to `ns__name` notes `namespace:<upstream name>` = {namespace, name}, and
//   its decoder restores both on the part. This encoder reads nothing but `part.namespace`.
// - State (`previous_response_id`, `conversation`, `background`, `prompt`) is decoded, not judged: targets without it throw
//   GatewayError.unsupported in encodeRequest. `item_reference` arrives as an opaque part of this dialect.
import type { DialectDriver } from '../../../core/types/dialect.ts'
import { docs } from './docs.ts'
import { decodeError, encodeError } from './errors.ts'
import { decodeRequest } from './request/decode.ts'
import { encodeRequest } from './request/encode.ts'
import { inspectResponse, spliceRequest } from './request/splice.ts'
import { validateResponses } from './request/validate.ts'
import { decodeResponse } from './response/decode.ts'
import { encodeResponse } from './response/encode.ts'
import { decodeStream } from './stream/decode.ts'
import { encodeStream } from './stream/encode.ts'
import { filterStream } from './stream/filter.ts'

export const responsesDialect: DialectDriver = {
  id: 'responses',
  modelPlaces: { whole: 'model', frame: 'response.model', once: false },
  routes: [{ path: '/v1/responses', operation: 'chat', bodyLimit: 'json', models: 'text', docs }],
  validate: validateResponses,
  decodeRequest,
  encodeResponse,
  encodeStream,
  encodeError,
  encodeRequest,
  spliceRequest,
  decodeResponse,
  inspectResponse,
  decodeStream,
  filterStream,
  decodeError,
}
