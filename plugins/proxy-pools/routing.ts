// Selects the proxy of a call. After a failure of a proxy that is not strict, the call goes direct once.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ProxyService } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Pool } from './pool.ts'

/** A pool that keeps failing is logged once in this time. */
const SAID_MS = 60_000

export function routeThroughPools(gateway: PluginGateway, view: View<readonly Pool[]>): void {
  const straight = gateway.slot<string>()
  let byConnection = tableOf(view.current)
  let lenient = hasLenient(byConnection)
  view.watch((pools) => {
    byConnection = tableOf(pools)
    lenient = hasLenient(byConnection)
  })

  const proxies: ProxyService = {
    for(connection, url, ctx) {
      const pool = byConnection.get(connection.id)
      if (pool === undefined) return undefined
      if (pool.bypasses(url) || (ctx !== null && straight.get(ctx) === connection.id)) return null
      if (pool.url !== null) return pool.url
      if (pool.row.strict) throw GatewayError.network('proxy', 'The proxy of this connection cannot be opened.')
      return undefined
    },
  }
  gateway.provide('proxies', proxies)

  gateway.hook(
    'attempt',
    async (ctx, { connection }, next) => {
      try {
        return await next()
      } catch (error) {
        const pool = connection.proxyUrl === null ? byConnection.get(connection.id) : undefined
        const proxyFailed = GatewayError.is(error) && error.upstream?.kind === 'proxy'
        if (!proxyFailed || pool === undefined || pool.row.strict || straight.get(ctx) === connection.id) throw error
        straight.set(ctx, connection.id)
        say(pool)
        return next()
      }
    },
    { when: () => lenient },
  )

  function say({ row }: Pool): void {
    Promise.resolve(gateway.counters.once(`straight:${row.id}`, SAID_MS)).then(
      (first) => void (first && gateway.log.warn('proxy_pool.passed_by', { id: row.id, name: row.name })),
      () => {},
    )
  }
}

function tableOf(pools: readonly Pool[]): ReadonlyMap<string, Pool> {
  return new Map(pools.filter(({ row }) => row.enabled).flatMap((pool) => pool.assigned.map((id) => [String(id), pool] as const)))
}

function hasLenient(table: ReadonlyMap<string, Pool>): boolean {
  return [...table.values()].some(({ row }) => !row.strict)
}
