// The `converse` dialect: Amazon Bedrock's Converse and ConverseStream, for upstreams.
import { defineDialect } from '../../../core/define-dialect.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { decodeError } from './errors.ts'
import { encodeRequest } from './request/encode.ts'
import { inlineMedia, remoteMedia } from './request/media.ts'
import { decodeResponse } from './response.ts'
import { decodeBytes } from './stream/decode.ts'

export const converseDialect = defineDialect({
  // Only upstreams speak it: the tables of callers' dialects have no row for it.
  id: 'converse' as Dialect,
  encodeRequest,
  remoteMedia,
  inlineMedia,
  decodeResponse,
  decodeBytes,
  decodeError,
})
