// The `messages` dialect: Anthropic's Messages API, for callers and upstreams.
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import { countDocs, messageDocs } from './docs.ts'
import { decodeError, encodeError } from './errors.ts'
import { decodeRequest } from './request/decode.ts'
import { encodeRequest } from './request/encode.ts'
import { spliceRequest } from './request/request-head.ts'
import { validateMessages } from './request/validate.ts'
import { decodeResponse, inspectResponse } from './response/decode.ts'
import { buildResponse, encodeResponse } from './response/encode.ts'
import { decodeStream } from './stream/decode.ts'
import { encodeStream } from './stream/encode.ts'
import { filterStream } from './stream/filter.ts'

export const messagesDialect: DialectDriver = {
  id: 'messages',
  modelPlaces: { whole: 'model', frame: 'message.model', once: true },
  routes: [
    { path: '/v1/messages', operation: 'chat', bodyLimit: 'json', models: 'text', docs: messageDocs },
    { path: '/v1/messages/count_tokens', operation: 'count_tokens', bodyLimit: 'default', models: 'concrete', docs: countDocs },
  ],
  validate: validateMessages,
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
