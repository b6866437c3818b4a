// /api/quota: shows the remaining quota as providers reported it.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { ExhaustedAccounts } from './exhausted.ts'
import type { Meter } from './meter.ts'
import type { Refresher } from './refresh.ts'
import type { KeptWindow, Snapshot } from './snapshot.ts'

const amount = z.number().nullable()
const time = z.string().nullable()

const quotaWindow = z.strictObject({
  name: z.string(),
  unit: z.enum(['percent', 'requests', 'tokens', 'usd']),
  model: z.string().nullable().describe('Of which models; a glob, null for all.'),
  used: amount,
  limit: amount,
  remaining: amount,
  remaining_pct: amount,
  resets_at: time,
  exhausted: z.boolean(),
})

const quotaSnapshot = z.strictObject({
  connection_id: z.int(),
  provider: z.string(),
  label: z.string(),
  plan: z.string().nullable(),
  windows: z.array(quotaWindow),
  exhausted: z.boolean().describe('No quota is left for any model: the account is skipped.'),
  resets_at: time.describe('When it will not be any more.'),
  source: z.enum(['api', 'headers', 'error']),
  fetched_at: z.string(),
  error: z.string().nullable(),
})

const list = z.array(quotaSnapshot)
const connectionId = z.int().min(1)

export function quotaRoutes(gateway: PluginGateway, meter: Meter, exhausted: ExhaustedAccounts, refresher: Refresher): void {
  const accounts = gateway.use('accounts')
  const mine = (orgId: number | null) => accounts.list().filter((account) => account.orgId === orgId)
  const shown = async (connections: readonly Connection[]) => {
    const snapshots = await meter.snapshots()
    return connections.flatMap((connection) => {
      const snapshot = snapshots.get(connection.id)
      return snapshot === undefined ? [] : [recordOf(connection, snapshot, exhausted.ofAccount(connection))]
    })
  }

  gateway.api({
    method: 'GET',
    path: '/api/quota',
    summary: 'Shows the newest quota of each connection, as its provider reported it.',
    role: 'member',
    query: z.strictObject({
      provider: z.string().max(64).optional(),
      connection_id: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
        .optional(),
    }),
    response: z.strictObject({ data: list }),
    async handler({ query, orgId }) {
      const asked = mine(orgId)
        .map(({ connection }) => connection)
        .filter(({ provider }) => query.provider === undefined || provider === query.provider)
        .filter(({ id }) => query.connection_id === undefined || id === query.connection_id)
      return { data: await shown(asked) }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/quota/refresh',
    summary: 'Asks the providers that have a usage API; of the others, answers say what is left.',
    role: 'manage',
    body: z.strictObject({ connection_id: connectionId.optional() }),
    response: z.strictObject({ data: list, refreshed: z.int(), failed: z.int() }),
    audit: 'quota.refresh',
    async handler({ body, orgId }) {
      const { connection_id: id } = body
      const asked = mine(orgId).filter(({ connection }) => id === undefined || connection.id === String(id))
      if (id !== undefined && asked.length === 0) throw notFound(`There is no connection ${id}.`)
      const connections = asked.filter(({ enabled }) => enabled).map(({ connection }) => connection)
      const counted = await refresher.refresh(connections)
      return { data: await shown(connections), ...counted }
    },
  })
}

function recordOf(connection: Connection, snapshot: Snapshot, until: number | null): z.input<typeof quotaSnapshot> {
  return {
    connection_id: Number(connection.id),
    provider: connection.provider,
    label: connection.label,
    plan: snapshot.plan,
    windows: snapshot.windows.map(windowOf),
    exhausted: until !== null,
    resets_at: until === null ? null : new Date(until).toISOString(),
    source: snapshot.source,
    fetched_at: new Date(snapshot.fetchedAt).toISOString(),
    error: snapshot.error,
  }
}

function windowOf({ resetsAt, from: _from, heardAt: _heardAt, ...window }: KeptWindow): z.input<typeof quotaWindow> {
  const { limit, remaining } = window
  const share = limit === null || limit <= 0 || remaining === null ? null : Math.round((remaining / limit) * 1000) / 10
  return { ...window, remaining_pct: share, resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString() }
}
