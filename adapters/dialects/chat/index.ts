// The chat-completions dialect: OpenAI's /v1/chat/completions and compatible APIs.
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import { docs } from './docs.ts'
import { decodeError, encodeError } from './errors.ts'
import { decodeRequest } from './request/decode.ts'
import { CHAT_PATH, encodeRequest } from './request/encode.ts'
import { spliceRequest } from './request/splice.ts'
import { speaksGenerateContent, validateChat } from './request/validate.ts'
import { decodeResponse } from './response/decode.ts'
import { buildResponse, encodeResponse } from './response/encode.ts'
import { inspectResponse } from './response/inspect.ts'
import { decodeStream } from './stream/decode.ts'
import { encodeStream } from './stream/encode.ts'
import { filterStream } from './stream/filter.ts'

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
