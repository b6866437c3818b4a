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
): GatewayStatus {
  return {
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
