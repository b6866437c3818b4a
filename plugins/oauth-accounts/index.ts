// Accounts that sign in by OAuth: PKCE and device flows over configured clients. Each account is a connection like any other; this plugin
// keeps its tokens fresh.
import { z } from 'zod'
import { randomId } from '../../core/ids/ids.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { oauthRoutes } from './api.ts'
import { signInFacts } from './attention.ts'
import { checkClients, flowOf, oauthClients } from './clients.ts'
import { codeFlow } from './code-flow.ts'
import { deviceFlow } from './device-flow.ts'
import { loginsOf } from './logins.ts'
import { loopbackOf } from './loopback.ts'
import { migrations } from './migrations.ts'
import { signInOf } from './sign-in.ts'
import { allAccounts, expiringAccounts, removeAccount, requireSignIn, tokenSealer } from './store.ts'
import { EARLY_MS, TokenKeeper } from './tokens.ts'
import { vendorOf } from './vendor.ts'

const MINUTE_MS = 60_000
const AT_ONCE = 4
/** A row without a connection is removed when it is older: another process may just have made the connection. */
const ORPHAN_MS = 10 * MINUTE_MS

const options = z.strictObject({
  /** OAuth clients by provider id. */
  clients: oauthClients.default({}),
  outboundProxy: z.string().nullable().default(null).meta({ env: 'OUTBOUND_PROXY' }),
})

/** Provides the services `oauthAccounts` and `credentials`. */
export const oauthAccounts = definePlugin({
  name: 'oauth-accounts',
  requires: ['accounts', 'directCalls', 'configuration', 'attention'],
  config: options,
  migrations,
  async setup(gateway, { clients, outboundProxy }) {
    const { db, clock, log, profile, vault, events } = gateway
    checkClients(clients, profile)
    const accounts = gateway.use('accounts')
    const configuration = gateway.use('configuration')
    const vendor = vendorOf(gateway.use('directCalls'), outboundProxy)
    const sealer = tokenSealer(vault)
    const view = await gateway.view('accounts', async (inside) => {
      const rows = await allAccounts(inside)
      return new Map(rows.map((row) => [String(row.connection_id), row.status]))
    })
    // Without clients there are accounts of an earlier configuration at most.
    const inUse = Object.keys(clients).length > 0 || view.current.size > 0
    const needsSignIn = ({ id }: Connection): boolean => view.current.get(id) === 'reauth_required'
    const keeper = new TokenKeeper({
      db,
      clock,
      log,
      vendor,
      sealer,
      owner: randomId('', 16),
      clientOf: (provider) => clients[provider],
      async refusedFor(row) {
        await view.write((inside) => requireSignIn(inside, row))
        log.warn('oauth.reauth_required', { connection: row.connection_id, provider: row.provider })
        const orgId = row.org_id === 0 ? null : row.org_id
        const at = { account_id: String(row.connection_id), provider: row.provider }
        events.emit('account.state_changed', { kind: 'credential', ...at, state: 'refused', until: null }, { orgId })
      },
    })
    // A new sign-in in another process makes the tokens in memory stale.
    view.watch((states) => {
      for (const [id, status] of states) if (status === 'reauth_required') keeper.forget(id)
    })

    const endSignIns = accounts.signIns({ credentialOf: gateway.detached((connection: Connection) => keeper.of(connection.id)) })
    const endState = accounts.extend({ state: (one) => (needsSignIn(one) ? { status: 'reauth_required' } : {}) })
    const endFacts = gateway.use('attention').contribute('oauth-accounts', signInFacts(accounts, needsSignIn))
    if (inUse)
      gateway.provide('credentials', {
        renew: async (connection) => (connection.bearer === true ? keeper.renew(connection.id) : false),
      })
    gateway.provide('oauthAccounts', {
      providers: Object.keys(clients),
      flowOf: (provider) => {
        const client = clients[provider]
        return client === undefined ? null : flowOf(client)
      },
      needsSignIn,
    })
    if (inUse)
      gateway.hook('candidates', (ctx, candidates) => {
        if (!candidates.some(({ connection }) => connection.bearer === true && needsSignIn(connection))) return candidates
        return candidates.filter((candidate) => {
          const out = needsSignIn(candidate.connection)
          if (out) ctx.skip(candidate, 'reauth_required')
          return !out
        })
      })

    const loopback = profile === 'local' ? loopbackOf(clock, log) : null
    const logins = loginsOf(db, vault, clock)
    const write = view.write
    const signIn = signInOf({ gateway, accounts, vendor, sealer, keeper, write })
    const flow = { clients, logins, vendor, clock, signIn }
    oauthRoutes({
      gateway,
      clients,
      accounts,
      code: codeFlow({ ...flow, loopback }),
      device: deviceFlow(flow),
      keeper,
      sealer,
      vendor,
      nameOf: (id) => configuration.provider(id).name ?? id,
    })

    if (inUse) startJobs()
    return () => {
      loopback?.closeAll()
      endSignIns()
      endState()
      endFacts()
    }

    function startJobs(): void {
      gateway.every('refresh', MINUTE_MS, async (signal) => {
        const rows = await expiringAccounts(db, clock.now() + EARLY_MS)
        for (let at = 0; at < rows.length && !signal.aborted; at += AT_ONCE)
          await Promise.all(
            rows
              .slice(at, at + AT_ONCE)
              .map(async ({ connection_id }) => keeper.of(String(connection_id)))
              .map(quiet),
          )
      })
      gateway.every(
        'forget',
        60 * MINUTE_MS,
        async () => {
          await logins.forgetOld()
          const listed = new Set(accounts.list().map(({ connection }) => connection.id))
          for (const row of await allAccounts(db))
            if (!listed.has(String(row.connection_id)) && row.refreshed_at < clock.now() - ORPHAN_MS)
              await removeAccount(db, row.connection_id)
        },
        { once: true },
      )
    }
  },
})

function quiet(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined)
}

export default oauthAccounts
