// Implements the service `status`: the state of this process.
import type { Runtime } from './pipeline/runtime.ts'
import type { GatewayStatus } from './services.ts'
import type { Ports } from './types/gateway.ts'
import type { RefusedReload } from './types/reload.ts'
import { VERSION } from './version.ts'

export function gatewayStatus(
  ports: Ports,
  runtime: Runtime,
  live: GatewayStatus['live'],
  refused: () => RefusedReload | null,
): GatewayStatus & { listening(url: string): void } {
  const followers = new Set<(url: string) => void>()
  let address: string | null = null
  return {
    whenListening(fn) {
      followers.add(fn)
      if (address !== null) fn(address)
      return () => void followers.delete(fn)
    },
    listening(url) {
      address = url
      for (const follower of followers) follower(url)
    },
    version: VERSION,
    get profile() {
      return runtime.options.profile
    },
    get state() {
      return runtime.draining ? 'draining' : 'serving'
    },
    startedAt: runtime.clock.now(),
    checks: ports.health ?? [],
    live,
    get refusedReload() {
      return refused()
    },
  }
}
