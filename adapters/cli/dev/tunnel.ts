// `hookgate dev --tunnel`: opens a tunnel for as long as the command runs.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostedGateway } from '../../../core/gateway.ts'
import { planeOf } from '../control-plane/control-plane.ts'
import { CommandFailure } from '../fail.ts'

interface Status {
  readonly cloudflare: { readonly state: string; readonly url: string | null; readonly error: string | null }
}

export interface DevTunnel {
  readonly url: string
  close(): Promise<void>
}

const WAIT_MS = 30_000
const POLL_MS = 200

/** @throws ApiFailure when it is refused; CommandFailure when the program prints no address. */
export async function openTunnel(gateway: HostedGateway): Promise<DevTunnel> {
  const { call } = planeOf(gateway)
  const provider = { provider: 'cloudflare' }
  const close = async (): Promise<void> => void (await call('POST', '/api/tunnel/disable', provider))
  await call('POST', '/api/tunnel/enable', provider)
  const until = performance.now() + WAIT_MS
  for (;;) {
    const { url, state, error } = (await call<Status>('GET', '/api/tunnel/status')).cloudflare
    if (url !== null) return { url, close }
    if (state === 'failed' || performance.now() > until) {
      await close()
      throw new CommandFailure({
        what: 'The tunnel did not open.',
        why: error ?? 'cloudflared printed no address.',
        fix: 'hookgate dev',
      })
    }
    await sleep(POLL_MS)
  }
}
