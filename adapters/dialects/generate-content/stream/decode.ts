// Decodes the upstream's SSE into canonical events. There is no formal terminator: after a finish reason the end of the stream is a
// normal end.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Json } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, StreamDecoder } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { errorOf, isErrorBody } from '../errors.ts'
import { isObject } from '../fields.ts'
import { ResponseReader } from '../response/response-reader.ts'

export function decodeStream(codec: CodecContext): StreamDecoder {
  const reader = new ResponseReader(codec)
  let over = false

  const fail = (error: GatewayError, emit: Emit): void => {
    over = true
    const retryable = error.status >= 500 || error.status === 429 || error.status === 408
    emit({ e: 'error', status: error.status, code: error.code ?? undefined, message: error.message, retryable })
  }

  const item = (value: Json, text: () => string, emit: Emit): void => {
    if (over) return
    if (isErrorBody(value)) fail(errorOf(value, 0, 'stream'), emit)
    else if (isObject(value)) reader.read(value, text, emit)
    else fail(GatewayError.protocol('The upstream sent a stream item that is not an object.'), emit)
  }

  return {
    frame(frame, emit) {
      if (over) return
      const data = frame.data.trim()
      // Google sends no [DONE], but some compatible backends do.
      if (data === '' || data === '[DONE]') return
      try {
        const value = JSON.parse(data) as Json
        // A backend that ignores alt=sse sends its items as one array.
        if (Array.isArray(value)) for (const entry of value) item(entry, () => JSON.stringify(entry), emit)
        else item(value, () => data, emit)
      } catch (thrown) {
        fail(GatewayError.is(thrown) ? thrown : GatewayError.protocol('The upstream sent a malformed stream item.'), emit)
      }
    },
    end(emit) {
      if (over) return
      if (!reader.finished) {
        fail(GatewayError.network('reset', 'The upstream closed the stream before it was complete.'), emit)
        return
      }
      over = true
      reader.close(emit)
      const { ext } = reader
      emit({ e: 'end', ...(ext === undefined ? {} : { ext }) })
    },
  }
}
