// The `messages` dialect: Anthropic's Messages API, spoken by callers and by upstreams.
import type { DialectDriver } from '../../../core/types/dialect.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse, inspectResponse } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'
import { countDocs, messageDocs } from './docs.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeStream } from './encode-stream.ts'
import { decodeError, encodeError } from './errors.ts'
import { filterStream } from './filter-stream.ts'
import { spliceRequest } from './request-head.ts'
import { validateMessages } from './validate.ts'

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
