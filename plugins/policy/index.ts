// Decides whether accounts with a personal sign-in may be used through a gateway: by the operator's mode, and by observed refusals of
// providers. Connections with an API key are never affected.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { policyRoutes } from './api.ts'
import { isPolicyRefusal, signedInOf } from './credentials.ts'
import { migrations } from './migrations.ts'
import { portablePolicy } from './portable.ts'
import { type Policy, policyOf, SUBSCRIPTION_PROVIDERS } from './rules.ts'
import type { AccountPolicyService } from './service.ts'
import { allPolicies, storeVerdict, type Verdict } from './store.ts'

/** Provides the service `accountPolicy`. */
export const policy = definePlugin({
  name: 'policy',
  requires: ['accounts', 'configuration'],
  migrations,
  async setup(gateway) {
    const { clock, log, profile } = gateway
    const { providerId } = gateway.use('configuration')
    const oauthAccounts = gateway.optional('oauthAccounts')
    const signedIn = signedInOf(gateway.use('accounts'))
    const view = await gateway.view('policies', allPolicies)
    let rows = new Map(view.current.map((row) => [row.provider_id, row]))
    /** Observed verdicts that are not stored yet; each is reported once. */
    const pending = new Map<string, Verdict>()
    view.watch((current) => {
      rows = new Map(current.map((row) => [row.provider_id, row]))
    })
    const of = (id: string): Policy => policyOf(id, rows.get(id), profile)

    const observe = (id: string, verdict: Verdict, reason: string | null): void => {
      const known = pending.get(id) ?? rows.get(id)?.verdict
      if (known === verdict || known === 'restricted') return
      pending.set(id, verdict)
      if (verdict === 'restricted') log.warn('policy.restricted', { provider: id, reason })
      view
        .write((db) => storeVerdict(db, id, verdict, reason, clock.now()))
        .catch((error: unknown) => log.warn('policy.unwritten', { provider: id, error: String(error) }))
        .finally(() => pending.get(id) === verdict && pending.delete(id))
    }

    const blocks: AccountPolicyService['blocks'] = ({ id, provider }) => {
      if (!signedIn().has(id)) return false
      const { mode, effective } = of(provider)
      // Observed just now and not stored yet.
      return effective === 'blocked' || (mode === 'auto' && pending.get(provider) === 'restricted')
    }
    gateway.provide('accountPolicy', { blocks })
    gateway.hook('candidates', (ctx, candidates) => {
      if (signedIn().size === 0) return candidates
      return candidates.filter((candidate) => {
        const blocked = blocks(candidate.connection)
        if (blocked) ctx.skip(candidate, 'policy_blocked')
        return !blocked
      })
    })
    gateway.hook(
      'attempt',
      async (ctx, { connection }, next) => {
        if (!signedIn().has(connection.id)) return next()
        const { provider } = connection
        if (of(provider).mode === 'warn') ctx.warn('credential_policy')
        try {
          const result = await next()
          observe(provider, 'ok', null)
          return result
        } catch (thrown) {
          if (!GatewayError.is(thrown) || !isPolicyRefusal(thrown)) throw thrown
          observe(provider, 'restricted', thrown.message.slice(0, 300))
          throw towardsNextAccount(thrown)
        }
      },
      { when: () => signedIn().size > 0 },
    )

    gateway.portable(portablePolicy(view))
    policyRoutes(gateway, view, {
      all() {
        const clients = oauthAccounts()?.providers ?? []
        const ids = new Set([...SUBSCRIPTION_PROVIDERS, ...clients, ...signedIn().values()].map(providerId))
        return [...ids].sort().map(of)
      },
      find(provider) {
        return this.all().find((one) => one.providerId === providerId(provider))
      },
    })
  },
})

/** The account is refused, not the request, whatever the status is. */
function towardsNextAccount(error: GatewayError): GatewayError {
  const { upstream } = error
  return upstream === null ? error : error.with({ upstream: { ...upstream, walk: 'next_account' } })
}

export default policy
