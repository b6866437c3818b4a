// Exports and imports connections.
import { sql } from '../../core/db/sql.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { changeOf, storeChange } from './change.ts'
import type { CheckRules } from './check.ts'
import { createBody, shownCaps } from './fields.ts'
import type { OpenConnection, Sealer } from './opened.ts'

export interface PortableConnections {
  readonly view: View<readonly OpenConnection[]>
  readonly rules: CheckRules
  readonly sealer: Sealer
  now(): number
}

const data = createBody.omit({ api_key: true, proxy_url: true, headers: true })

export function portableConnections({ view, rules, sealer, now }: PortableConnections): PortableKind<typeof data._output> {
  const mine = (orgId: number | null) => view.current.filter(({ row }) => row.org_id === (orgId ?? 0))
  const find = (orgId: number | null, name: string) => named(mine(orgId)).get(name) ?? null
  return {
    kind: 'connections',
    after: [],
    schema: data,
    secrets: ['api_key', 'proxy_url', 'headers'],
    view: view as View<unknown>,
    async rows(orgId) {
      // A sign-in cannot be moved: sign in again in the other gateway.
      const exported = mine(orgId).filter(({ row }) => row.auth_type !== 'oauth')
      return exported.map((entry) => ({
        name: nameOf(entry),
        managedBy: entry.row.managed_by,
        data: dataOf(entry),
        secrets: secretsOf(entry),
      }))
    },
    prepare: (orgId) => sealer.prepare(orgId),
    async write({ db, orgId, data: { provider, ...body }, secrets, existing }) {
      const { api_key, proxy_url, headers } = secrets
      const before = existing === null ? null : find(orgId, existing)
      const given = {
        ...body,
        ...(api_key === undefined ? {} : { api_key }),
        ...(proxy_url === undefined ? {} : { proxy_url }),
        ...(headers === undefined ? {} : { headers: JSON.parse(headers) as Record<string, string> }),
      }
      const id = rules.configuration.providerId(provider)
      // A connection without its key is imported disabled until it gets one.
      const keyless = api_key === undefined && (before?.secret ?? null) === null && rules.configuration.provider(id).needsKey
      const change = changeOf(id, keyless ? { ...given, enabled: false } : given, before, rules)
      await storeChange(db, orgId, before?.row.id ?? null, change, sealer, now())
      return keyless && body.enabled !== false ? 'disabled until it gets its key' : null
    },
    nameOf(orgId, id) {
      return [...named(mine(orgId))].find(([, { row }]) => row.id === id)?.[0] ?? null
    },
    async idOf(db, orgId, name) {
      const rows = await db.all<{ id: number; provider: string; label: string }>(
        sql`SELECT id, provider, label FROM connections WHERE org_id = ${orgId ?? 0} AND archived_at IS NULL ORDER BY priority, id`,
      )
      const names = numbered(rows.map(({ provider, label }) => `${provider}/${label}`))
      const index = names.indexOf(name)
      return index === -1 ? null : Number(rows[index]?.id)
    },
  }
}

function nameOf({ connection }: OpenConnection): string {
  return `${connection.provider}/${connection.label}`
}

function named(entries: readonly OpenConnection[]): Map<string, OpenConnection> {
  const names = numbered(entries.map(nameOf))
  return new Map(entries.map((entry, index) => [names[index] as string, entry]))
}

/** Adds numbers: the second `openai/main` becomes `openai/main#2`. */
function numbered(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((base) => {
    let name = base
    for (let count = 2; taken.has(name); count++) name = `${base}#${count}`
    taken.add(name)
    return name
  })
}

function dataOf({ row, connection }: OpenConnection): Record<string, Json> {
  return {
    provider: connection.provider,
    label: connection.label,
    base_url: connection.baseUrl,
    wire_format: connection.wireFormat,
    priority: connection.priority,
    enabled: row.enabled,
    allowed_models: [...connection.allowedModels],
    default_model: connection.defaultModel,
    max_inflight: connection.maxInflight,
    caps: shownCaps(connection.caps ?? null) as Json,
    metadata: row.metadata as Record<string, Json>,
  }
}

function secretsOf({ secret, connection }: OpenConnection): Record<string, string> {
  const { proxyUrl, headers } = connection
  return {
    ...(secret === null ? {} : { api_key: secret }),
    ...(proxyUrl === null ? {} : { proxy_url: proxyUrl }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: JSON.stringify(headers) }),
  }
}
