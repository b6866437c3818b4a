// The OpenAI Responses dialect, for callers and upstreams.
//
// Conventions between this driver and the others:
// - Custom tools. A canonical call with `kind: 'custom'` has the plain input text as its `args` (custom-tool.ts). A target
//   that flattens the tool to a function sets `custom:<upstream name>` = true in `codec.notes`. Its decoder restores
//   `kind: 'custom'` and the text. This encoder reads only `part.kind` (`meta.kind` in streams).
// - Namespaces. A target that flattens `ns` + `name` to `ns__name` sets `namespace:<upstream name>` = {namespace, name}. Its
//   decoder restores both on the part. This encoder reads only `part.namespace`.
// - State (`previous_response_id`, `conversation`, `background`, `prompt`) is decoded and not checked: targets without it throw
//   GatewayError.unsupported in encodeRequest. `item_reference` is decoded as an opaque part of this dialect.
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import { COUNT_PATH } from './count.ts'
import { countDocs, docs } from './docs.ts'
import { decodeError, encodeError } from './errors.ts'
import { decodeRequest } from './request/decode.ts'
import { encodeRequest } from './request/encode.ts'
import { inspectResponse, spliceRequest } from './request/splice.ts'
import { validateResponses } from './request/validate.ts'
import { decodeResponse } from './response/decode.ts'
import { buildResponse, encodeResponse } from './response/encode.ts'
import { decodeStream } from './stream/decode.ts'
import { encodeStream } from './stream/encode.ts'
import { filterStream } from './stream/filter.ts'

export const responsesDialect: DialectDriver = {
  id: 'responses',
  modelPlaces: { whole: 'model', frame: 'response.model', once: false },
  routes: [
    { path: '/v1/responses', operation: 'chat', bodyLimit: 'json', models: 'text', docs },
    { path: COUNT_PATH, operation: 'count_tokens', bodyLimit: 'json', models: 'concrete', docs: countDocs },
  ],
  validate: validateResponses,
  decodeRequest,
  encodeResponse,
  buildResponse,
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
