// The generate-content dialect (Gemini): routes, requests, answers, streams and errors in both directions.
import type { DialectDriver } from '../../../core/types/dialect.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeStream } from './encode-stream.ts'
import { decodeError, encodeError } from './errors.ts'
import { filterStream } from './filter-stream.ts'
import { inspectResponse } from './inspect-response.ts'
import { quietFrame } from './quiet-frame.ts'
import { inlineMedia, remoteMedia } from './remote-media.ts'
import { routes } from './routes.ts'
import { spliceRequest } from './splice.ts'
import { validateGenerateContent } from './validate.ts'

export const generateContentDialect: DialectDriver = {
  id: 'generate_content',
  modelPlaces: { whole: 'modelVersion', frame: 'modelVersion', once: false },
  routes,
  quietFrame,
  validate: validateGenerateContent,
  decodeRequest,
  encodeResponse,
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
