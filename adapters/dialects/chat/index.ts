// The chat-completions dialect: OpenAI's /v1/chat/completions and everything that speaks it.
import type { DialectDriver } from '../../../core/types/dialect.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'
import { docs } from './docs.ts'
import { CHAT_PATH, encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeStream } from './encode-stream.ts'
import { decodeError, encodeError } from './errors.ts'
import { filterStream } from './filter-stream.ts'
import { inspectResponse } from './inspect-response.ts'
import { spliceRequest } from './splice.ts'
import { speaksGenerateContent, validateChat } from './validate.ts'

export const chatDialect: DialectDriver = {
  id: 'chat',
  modelPlaces: { whole: 'model', frame: 'model', once: false },
  routes: [
    {
      path: CHAT_PATH,
      operation: 'chat',
      bodyLimit: 'json',
      models: 'text',
      docs,
      dialectOf: (body) => (speaksGenerateContent(body) ? 'generate_content' : 'chat'),
    },
  ],
  validate: validateChat,
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
