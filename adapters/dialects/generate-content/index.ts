// The generate-content dialect (Gemini): routes, requests, answers, streams and errors in both directions.
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import { decodeError, encodeError } from './errors.ts'
import { decodeRequest } from './request/decode.ts'
import { encodeRequest } from './request/encode.ts'
import { inlineMedia, remoteMedia } from './request/remote-media.ts'
import { spliceRequest } from './request/splice.ts'
import { validateGenerateContent } from './request/validate.ts'
import { decodeResponse } from './response/decode.ts'
import { buildResponse, encodeResponse } from './response/encode.ts'
import { inspectResponse } from './response/inspect.ts'
import { routes } from './routes.ts'
import { decodeStream } from './stream/decode.ts'
import { encodeStream } from './stream/encode.ts'
import { filterStream } from './stream/filter.ts'
import { quietFrame } from './stream/quiet-frame.ts'

export const generateContentDialect: DialectDriver = {
  id: 'generate_content',
  modelPlaces: { whole: 'modelVersion', frame: 'modelVersion', once: false },
  routes,
  quietFrame,
  validate: validateGenerateContent,
  decodeRequest,
  encodeResponse,
  buildResponse,
  encodeStream,
  encodeError: (error) => encodeError(error),
  encodeRequest,
  spliceRequest,
  remoteMedia,
  inlineMedia,
  decodeResponse,
  inspectResponse,
  decodeStream,
  filterStream,
  decodeError: (status, _headers, body) => decodeError(status, body),
}
