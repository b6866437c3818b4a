// GET /api/free-pool: whether the pool serves the caller's organization, its limits, and what is used of them.
import { z } from 'zod'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { PoolLimits } from './limits.ts'
import { accountsOf, GLOBAL, rangesOf, startsAt, WINDOW_NAMES } from './windows.ts'

const limit = z.int().nullable().describe('Tokens; null: no limit.')
const windows = { hour: z.int(), day: z.int(), week: z.int() }

const answer = z.strictObject({
  enabled: z.boolean().describe('Whether a connection is shared.'),
  vm: z.string().describe('The name to request as `model`.'),
  shadowed: z.boolean().describe('true: a virtual model of the organization has this name and answers instead.'),
  limits: z.strictObject({ hour: limit, day: limit, week: limit }),
  used: z
    .strictObject(windows)
    .describe('Tokens of the organization in the last hour, 24 hours and 7 days, with those that running requests reserve.'),
  global: z
    .strictObject({ cap: limit, used: z.int().nullable().describe('null: only system administrators see it.') })
    .describe('Tokens of all organizations in this UTC day.'),
  verified_required: z.boolean().describe('Whether callers need a verified e-mail address.'),
})

export interface PoolState {
  readonly name: string
  readonly limits: PoolLimits
  readonly ledger: Pick<Services['ledger'], 'sum'>
  available(): boolean
  isShadowed(orgId: number | null): boolean
  verifiedRequired(): boolean
}

export function freePoolRoutes(gateway: PluginGateway, state: PoolState): void {
  const { db, clock } = gateway
  const { name, limits, ledger } = state
  gateway.api({
    method: 'GET',
    path: '/api/free-pool',
    summary: 'The free pool: its limits, and what the organization has used of them.',
    role: 'member',
    response: answer,
    async handler({ orgId, operator }) {
      const now = clock.now()
      const accounts = accountsOf(orgId)
      const [hour = 0, day = 0, week = 0] = await Promise.all(
        WINDOW_NAMES.map((window) => ledger.sum(db, rangesOf(accounts, window, now))),
      )
      const today = startsAt(now).day
      // An organization would read from it what the others use.
      const all = operator.role === 'system' ? await ledger.sum(db, [{ name: GLOBAL, from: today, until: today + 1 }]) : null
      return {
        enabled: state.available(),
        vm: name,
        shadowed: state.isShadowed(orgId),
        limits: { ...limits.org },
        used: { hour, day, week },
        global: { cap: limits.globalDay, used: all },
        verified_required: state.verifiedRequired(),
      }
    },
  })
}
