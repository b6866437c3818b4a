// Calls of plugins to the data plane on behalf of a client key: the whole pipeline runs, as for a caller's request.
import { headerBag } from '../http/headers.ts'
import { runExchange } from '../pipeline/pipeline.ts'
import type { Runtime } from '../pipeline/runtime.ts'
import { concatBytes, encodeUtf8 } from '../text/bytes.ts'
import type { OwnCall, OwnCalls } from '../types/plugin/own-calls.ts'
import type { Ingress, Sink } from '../types/ports/ports.ts'

export function ownCalls(runtime: Runtime): OwnCalls {
  return {
    stream: async (call, sink) => void (await runExchange(runtime, ingressOf(call), sink)),
    post: async (call) => {
      let status = 0
      let head: readonly string[] = []
      const chunks: Uint8Array[] = []
      let leave: (() => void) | null = null
      const sink: Sink = {
        head(given, headers) {
          status = given
          head = headers
        },
        write(chunk) {
          chunks.push(typeof chunk === 'string' ? encodeUtf8(chunk) : chunk)
          return true
        },
        drained: () => undefined,
        end(chunk) {
          if (chunk !== undefined) sink.write(chunk)
        },
        get gone() {
          return call.signal?.aborted ?? false
        },
        onGone(fn) {
          leave = fn
          if (call.signal?.aborted) fn()
        },
      }
      const left = () => leave?.()
      call.signal?.addEventListener('abort', left, { once: true })
      await runExchange(runtime, ingressOf(call), sink)
      call.signal?.removeEventListener('abort', left)
      return { status, headers: headerBag(head), body: concatBytes(chunks) }
    },
  }
}

function ingressOf({ path, query = '', body, actsFor, headers = [] }: OwnCall): Ingress {
  return {
    method: 'POST',
    path,
    query,
    headers: headerBag(['content-type', 'application/json', 'content-length', String(body.length), ...headers]),
    peer: { address: null, local: true, secure: true },
    actsFor,
    body: async () => body,
    async *chunks() {
      yield body
    },
  }
}
