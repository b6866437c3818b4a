// Client keys: authenticates callers, checks their models, and records whom a request belongs to.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { Principal, RequestContext } from '../../core/types/request/context.ts'
import { keyRoutes } from './api.ts'
import { identified, principalOf, UNKNOWN_KEY, unknownKey } from './authenticate.ts'
import { clientKey, KeyDirectory } from './directory.ts'
import { migrations } from './migrations.ts'
import { refuseOtherModels } from './other-models.ts'
import { keyResource } from './resource.ts'
import { KEY_PREFIX, wellFormed } from './secret.ts'
import type { ClientKey, KeyService } from './service.ts'
import { type KeyRow, loadKeys, renewKeys } from './store.ts'

/** An attacker who invents keys causes at most one query in this time. */
const LOOK_AGAIN_MS = 100
const COST_CENTER = /^[\x20-\x7e]{1,128}$/

export const keys = definePlugin({
  name: 'keys',
  config: z.strictObject({
    /** Longest lifetime of a new key, days; 0 or null = unlimited. */
    maxDays: z.int().min(0).nullable().default(null),
    /** Whether `x-gateway-cost-center` overrides the key's own value. */
    costCenterHeaderTrusted: z.boolean().default(true),
  }),
  variables: {
    MAX_KEY_DAYS: { option: 'maxDays', about: 'Longest lifetime of a client key, in days.' },
    COST_CENTER_HEADER_TRUSTED: {
      option: 'costCenterHeaderTrusted',
      about: 'The header x-gateway-cost-center overrides the cost center of the key.',
    },
  },
  migrations,
  async setup(gateway, config) {
    const { vault } = gateway
    const mac = (secret: string): string => vault.mac('client-key', secret)
    const stored = (secret: string) => ({ mac: mac(secret), last4: secret.slice(-4) })
    const view = await gateway.view('living', loadKeys, renewKeys)
    const directory = new KeyDirectory(view.current)
    view.watch((rows, changed) => directory.take(rows, changed))
    const created = new Set<(key: ClientKey) => Promise<void>>()

    let looking = Promise.resolve()
    let lookedAt = Number.NEGATIVE_INFINITY

    const slot = gateway.slot<ClientKey>()
    const service: KeyService = {
      of: (ctx) => slot.get(ctx) ?? null,
      find: (secret) => {
        // A mistyped key is refused without a look-up.
        if (secret.startsWith(KEY_PREFIX) && secret.length === 50 && !wellFormed(secret)) return null
        return directory.withMac(mac(secret))
      },
      expired: ({ expiresAt }) => expiresAt !== null && expiresAt <= gateway.clock.now(),
      get: (orgId, id) => directory.get(orgId, id),
      list: (orgId) => directory.list(orgId),
      labelled: (orgId, label) => directory.labelled(orgId, label),
      onCreated: (fn) => {
        created.add(fn)
        return () => void created.delete(fn)
      },
    }
    gateway.provide('keys', service)

    gateway.hook('authenticate', (ctx) => {
      const found = identified(ctx, service)
      if (found !== UNKNOWN_KEY) return accepted(ctx, found)
      // Another process, such as the command line, may have just created the key.
      return lookAgain().then(() => {
        const key = identified(ctx, service)
        if (key === UNKNOWN_KEY) throw unknownKey()
        return accepted(ctx, key)
      })
    })

    function accepted(ctx: RequestContext, key: ClientKey | undefined): Principal | undefined {
      const asked = config.costCenterHeaderTrusted ? ctx.headers.get('x-gateway-cost-center') : null
      if (asked !== null && !COST_CENTER.test(asked))
        throw GatewayError.invalid(
          'x-gateway-cost-center',
          '`x-gateway-cost-center` must be 1 to 128 printable ASCII characters.',
        )
      ctx.costCenter = asked ?? key?.costCenter ?? null
      if (key === undefined) return undefined
      slot.set(ctx, key)
      return principalOf(key)
    }

    /** Reads the database at most once in `LOOK_AGAIN_MS`, whatever is presented. */
    async function lookAgain(): Promise<void> {
      const now = gateway.clock.monotonic()
      if (now - lookedAt >= LOOK_AGAIN_MS) {
        lookedAt = now
        looking = view.refresh()
      }
      await looking
    }

    gateway.hook('access', (ctx) => {
      const { allowedModels } = ctx.principal
      if (allowedModels === null || ctx.scope !== 'model') return
      // Matches the string as sent, neither trimmed nor folded; the resolver gets the same one.
      if (!allowedModels.some((glob) => globMatch(glob, ctx.requestedModel)))
        throw GatewayError.forbidden(
          `This client key may not use the model \`${ctx.requestedModel.slice(0, 256)}\`. Its allow-list decides on the model string exactly as it is sent.`,
        )
      refuseOtherModels(ctx)
    })

    const announced = async (row: KeyRow): Promise<void> => {
      for (const fn of created) await fn(clientKey(row))
    }
    keyRoutes({ gateway, view, stored, created: announced, maxDays: config.maxDays })
    gateway.resource(keyResource(gateway, view, stored))
  },
})

export default keys
