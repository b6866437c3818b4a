// Manages in-flight slots of accounts and cost centers: held from dispatch to the end of the stream, across all processes that share
// counters.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Counters } from '../../../core/types/ports/ports.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'

/** Slots of a crashed process become free after this time. */
const LEASE_MS = 60_000
/** The time at which a slot becomes free is unknown; callers may retry after this. */
const RETRY_MS = 1000

export interface Capacity {
  /** Returns the limit of the connection, otherwise of all connections; null = unlimited. A replay may fill half of it. */
  limitOf(connection: Connection, replay: boolean): number | null
  /** @throws GatewayError with skip `at_capacity`: another account may have room. */
  account(connection: Connection, limit: number): Promise<() => void>
  /** @throws GatewayError 429. */
  costCenter(orgId: number | null, name: string, limit: number): Promise<() => void>
}

export function capacityOf(counters: Counters, accountMaxInflight: number | null): Capacity {
  return {
    limitOf({ maxInflight }, replay) {
      const limit = (maxInflight ?? accountMaxInflight) || null
      return limit === null || !replay ? limit : Math.floor(limit / 2)
    },
    async account({ id, provider, label }, limit) {
      if (limit > 0) {
        const { ok, release } = await counters.acquire(`account:${id}`, limit, LEASE_MS)
        if (ok) return release
      }
      const message = `The account \`${provider}/${label}\` has all of its ${limit} requests in flight.`
      throw GatewayError.rateLimited(message, RETRY_MS, 'at_capacity')
    },
    async costCenter(orgId, name, limit) {
      const { ok, release } = await counters.acquire(`cost-center:${orgId ?? 0}:${name}`, limit, LEASE_MS)
      if (ok) return release
      throw GatewayError.rateLimited(
        `This cost center has all of its ${limit} requests in flight. Wait until one of them has ended.`,
        RETRY_MS,
      )
    },
  }
}
