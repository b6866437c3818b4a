// Tests a proxy: one GET through it to an address that answers with the caller's own.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DirectAnswer, DirectCalls } from '../../core/services.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { LastTest } from './store.ts'

const TIMEOUT_MS = 10_000
const ADDRESS = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:{1,2}){2,7}[0-9a-f]{1,4}(?![\w:])/i

export async function probeProxy(proxyUrl: string, testUrl: string, calls: DirectCalls, clock: Clock): Promise<LastTest> {
  const started = clock.monotonic()
  const verdict = (error: string | null, ip: string | null = null): LastTest => ({
    ok: error === null,
    latency_ms: Math.round(clock.monotonic() - started),
    ip,
    at: new Date(clock.now()).toISOString(),
    error,
  })
  try {
    const answer = await calls.viaProxy(proxyUrl, testUrl, TIMEOUT_MS)
    if (answer.status < 200 || answer.status > 299) return verdict(`The test address answered ${answer.status}.`)
    return verdict(null, addressIn(answer))
  } catch (error) {
    return verdict(GatewayError.from(error).message)
  }
}

function addressIn({ body }: DirectAnswer): string | null {
  return ADDRESS.exec(new TextDecoder().decode(body.subarray(0, 500)))?.[0] ?? null
}
