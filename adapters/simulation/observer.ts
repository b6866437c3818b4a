// Observes a simulated gateway from inside: its accounts, their state, and the end of each request.
import { definePlugin } from '../../core/plugins/define.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import type { AccountStateService } from '../../plugins/resilience/service.ts'
import { nameOf } from './account-times.ts'

export interface SimulatedAccount {
  /** Key in the configuration. */
  readonly key: string
  readonly provider: string
  /** `provider/label`. */
  readonly name: string
}

export interface Observer {
  readonly plugin: Plugin
  /** By key. */
  readonly accounts: ReadonlyMap<string, SimulatedAccount>
  /** By id of the request. */
  readonly settled: ReadonlyMap<string, { readonly ctx: RequestContext; readonly outcome: Outcome }>
  /** The connections that the plugins of this configuration know; none without such a plugin. */
  connections(): readonly Connection[]
  states(): AccountStateService | null
}

export function observer(): Observer {
  const accounts = new Map<string, SimulatedAccount>()
  const settled = new Map<string, { ctx: RequestContext; outcome: Outcome }>()
  let connections: () => readonly Connection[] = () => []
  let states: () => AccountStateService | null = () => null
  const plugin = definePlugin({
    name: 'simulation',
    setup(gateway) {
      for (const { connection } of gateway.use('configuration').connections) {
        const { id: key, provider } = connection
        accounts.set(key, { key, provider, name: nameOf(connection) })
      }
      const list = gateway.optional('accounts')
      const state = gateway.optional('accountState')
      connections = () => (list()?.list() ?? []).map(({ connection }) => connection)
      states = () => state() ?? null
      gateway.hook('settled', (ctx, outcome) => void settled.set(ctx.id, { ctx, outcome }), { order: 'post' })
    },
  })
  return { plugin: plugin(), accounts, settled, connections: () => connections(), states: () => states() }
}
