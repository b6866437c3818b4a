// Manages provider connections from gateway.config.ts and the API, and resolves `<provider>/<model>` to a plan.
import { definePlugin } from '../../core/plugins/define.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { accountsOf } from './accounts.ts'
import { connectionRoutes } from './api.ts'
import { directoriesOf } from './by-organization.ts'
import { migrations } from './migrations.ts'
import { provideModelList } from './model-list.ts'
import { type OpenConnection, openRow, sealerOf, unreadableRow } from './opened.ts'
import { portableConnections } from './portable.ts'
import { connectionResource } from './resource.ts'
import { signedInConnections } from './signed-in.ts'
import { activeConnections } from './store.ts'

/** Provides the services `connections` and `accounts`, and resolves concrete model names. */
export const connections = definePlugin({
  name: 'connections',
  migrations,
  async setup(gateway) {
    const configuration = gateway.use('configuration')
    const declared = new Map(configuration.connections.map((entry) => [entry.connection.id, entry]))
    const sealer = sealerOf(gateway.vault)

    const load = async (db: Db): Promise<OpenConnection[]> => {
      const opened: OpenConnection[] = []
      for (const row of await activeConnections(db)) {
        try {
          const entry = await openRow(row, declared, sealer)
          if (entry !== null) opened.push(entry)
        } catch (error) {
          // One altered row must not disable the others.
          gateway.log.error('connection.unreadable', { id: row.id, error: (error as Error).message })
          opened.push(unreadableRow(row))
        }
      }
      return opened
    }
    const view = await gateway.view('living', load)
    let directory = directoriesOf(view.current, configuration)
    view.watch((entries) => {
      directory = directoriesOf(entries, configuration)
    })
    gateway.provide('connections', {
      list: (provider, model, ctx) => directory.list(provider, model, ctx),
      shared: (id) => directory.shared?.(id),
      knows: (provider, orgId) => directory.knows(provider, orgId),
      secretOf: (connection) => directory.secretOf(connection),
      credentialOf: (connection) =>
        connection.bearer === true
          ? (directory.secretOf(connection) ?? accounts.credentialOf(connection))
          : directory.secretOf(connection),
    })

    const accounts = accountsOf(view)
    const rules = { configuration, profile: gateway.profile, outbound: gateway.use('outbound') }
    gateway.portable(portableConnections({ view, rules, sealer, now: () => gateway.clock.now() }))
    const { list, named, extend, signIns } = accounts
    gateway.provide('accounts', { list, named, extend, signIns, ...signedInConnections(gateway, view, rules) })

    gateway.hook(
      'resolve',
      (ctx) => {
        const slash = ctx.requestedModel.indexOf('/')
        if (slash <= 0 || slash === ctx.requestedModel.length - 1) return undefined
        const provider = ctx.requestedModel.slice(0, slash)
        if (!directory.knows(provider, ctx.principal.orgId)) return undefined
        const model = ctx.requestedModel.slice(slash + 1)
        return {
          targets: [{ provider: configuration.providerId(provider), model, connectionId: null, weight: 1 }],
          strategy: 'direct',
          virtualModel: null,
        }
      },
      { order: 'post' },
    )

    provideModelList(gateway)
    connectionRoutes({ gateway, view, sealer, accounts })
    gateway.resource(connectionResource(gateway, view))
  },
})

export default connections
