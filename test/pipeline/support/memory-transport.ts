// The transport port without a network: the test plays each call, chunk by chunk, with back-pressure.
import { headerBag } from '../../../core/http/headers.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Transport, WireHandler, WireRequest } from '../../../core/types/ports/ports.ts'

export interface Sent {
  readonly request: WireRequest
  readonly handler: WireHandler
  /** Why the gateway aborted the call; null while it has not. */
  aborted: GatewayErrorShape | null
  /** Number of bytes sent so far. */
  pushed: number
  head(status?: number, headers?: string[]): void
  /** Resolves when the next chunk may be sent. */
  push(chunk: Uint8Array | string): Promise<void> | undefined
  end(): void
}

export interface MemoryTransport extends Transport {
  readonly sent: Sent[]
}

/** `play` starts one microtask after send(), because no real transport answers synchronously. */
export function memoryTransport(play: (sent: Sent) => unknown): MemoryTransport {
  const sent: Sent[] = []
  return {
    sent,
    send(request, handler) {
      const call: Sent = {
        request,
        handler,
        aborted: null,
        pushed: 0,
        head(status = 200, headers = ['content-type', 'text/event-stream']) {
          if (call.aborted === null) handler.head(status, headerBag(headers))
        },
        push(chunk) {
          if (call.aborted !== null) return undefined
          const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
          call.pushed += bytes.length
          return handler.data(bytes)
        },
        end() {
          if (call.aborted === null) handler.end()
        },
      }
      sent.push(call)
      queueMicrotask(() => void play(call))
      return {
        abort(reason) {
          call.aborted ??= reason
        },
      }
    },
    async close() {},
  }
}
