// Named outbound proxies and their connections. Precedence: connection.proxy_url, the assigned proxy, OUTBOUND_PROXY, none.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { poolRoutes } from './api.ts'
import { migrations } from './migrations.ts'
import { loadPools } from './pool.ts'
import { portablePools } from './portable.ts'
import { routeThroughPools } from './routing.ts'

/** Provides the service `proxies`. */
export const proxyPools = definePlugin({
  name: 'proxy-pools',
  requires: ['accounts', 'outbound', 'directCalls'],
  config: z.strictObject({
    /** A URL that answers with the caller's address. Only a proxy test uses it. */
    testUrl: z.url({ protocol: /^https?$/ }).default('https://api.ipify.org'),
  }),
  migrations,
  async setup(gateway, { testUrl }) {
    const view = await gateway.view('pools', (db) => loadPools(db, gateway.vault, gateway.log))
    routeThroughPools(gateway, view)
    poolRoutes(gateway, view, testUrl)
    gateway.portable(portablePools(gateway, view, { profile: gateway.profile, outbound: gateway.use('outbound') }))
  },
})

export default proxyPools
