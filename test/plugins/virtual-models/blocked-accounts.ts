// A stand-in for the plugin `resilience`: a test says which providers are blocked, and the requests follow it.
import { definePlugin } from '../../../core/plugins/define.ts'
import type { SkipReason } from '../../../core/types/error.ts'

/** Blocked accounts by provider; a test may change it at any time. */
export type Blocked = Record<string, { reason: SkipReason; until: number | null }>

export const blockedAccounts = (blocked: Blocked, state: { breaker: string; inflight: number }) =>
  definePlugin({
    name: 'blocked-accounts',
    setup(gateway) {
      gateway.provide('accountState', {
        blocked: ({ provider }) => blocked[provider] ?? null,
        of: () => state as never,
        slot: async () => () => {},
        clear() {},
        clearLocks: () => 0,
      })
      gateway.hook('candidates', (ctx, list) =>
        list.filter((one) => {
          const found = blocked[one.connection.provider]
          if (found !== undefined) ctx.skip(one, found.reason)
          return found === undefined
        }),
      )
    },
  })()
