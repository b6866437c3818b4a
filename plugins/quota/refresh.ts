// Queries vendors that have a driver: at an operator's request, and every few minutes for accounts in use.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DirectAnswer } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Meter } from './meter.ts'
import type { QuotaDriver } from './service.ts'

const TIMEOUT_MS = 10_000
const AT_ONCE = 4
const EVERY_MS = 300_000

export interface Refresher {
  readonly drivers: Map<string, QuotaDriver>
  /** Records that a call used the connection, so that it is queried. */
  used(connection: Connection): void
  /** Connections without a driver are left out. */
  refresh(connections: readonly Connection[]): Promise<{ refreshed: number; failed: number }>
}

export function refresher(gateway: PluginGateway, meter: Meter, list: () => readonly Connection[]): Refresher {
  const { clock, counters } = gateway
  const calls = gateway.use('directCalls')
  const drivers = new Map<string, QuotaDriver>()
  const inUse = new Set<string>()
  const askedAt = new Map<string, number>()

  async function ask(connection: Connection, driver: QuotaDriver): Promise<boolean> {
    askedAt.set(connection.id, clock.monotonic())
    inUse.delete(connection.id)
    const get = async (path: string): Promise<DirectAnswer> => {
      const answer = await calls.get(connection, path, TIMEOUT_MS)
      if (answer.status >= 200 && answer.status <= 299) return answer
      throw GatewayError.upstream(answer.status, `The provider answered ${answer.status} when it was asked for the quota.`)
    }
    try {
      meter.read(connection, await driver.read(get, connection))
      return true
    } catch (error) {
      const known = GatewayError.is(error) ? error.message : 'The provider answered something that cannot be understood.'
      meter.failed(connection, known)
      return false
    }
  }

  async function refresh(connections: readonly Connection[]): Promise<{ refreshed: number; failed: number }> {
    const waiting = connections.flatMap((connection) => {
      const driver = drivers.get(connection.provider)
      return driver === undefined ? [] : [{ connection, driver }]
    })
    const counted = { refreshed: 0, failed: 0 }
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        counted[(await ask(next.connection, next.driver)) ? 'refreshed' : 'failed']++
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    return counted
  }

  gateway.every('refresh', EVERY_MS / 5, async () => {
    const now = clock.monotonic()
    const due = ({ id }: Connection) => inUse.has(id) && now - (askedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= EVERY_MS
    const mine: Connection[] = []
    // Every process may have used the account; one of them asks.
    for (const connection of list().filter(due))
      if (await counters.once(`refresh:${connection.id}`, EVERY_MS * 0.8)) mine.push(connection)
    await refresh(mine)
  })

  return {
    drivers,
    refresh,
    used(connection) {
      if (drivers.has(connection.provider)) inUse.add(connection.id)
    },
  }
}
