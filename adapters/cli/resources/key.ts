// `hookgate key`: manages client keys. A secret is printed once, alone on stdout.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { allKeys, type KeyPage } from '../control-plane/all-keys.ts'
import { type ControlPlane, queryOf, readQuickly, withControlPlane } from '../control-plane/control-plane.ts'
import { count, id, list } from '../flag-values.ts'
import { future } from '../instants.ts'
import { usd } from '../output/figures.ts'
import { cell, printJson, say, styled, table } from '../output/table.ts'

interface Key {
  id: number
  label: string
  key_hint: string
  allowed_models: string[]
  rate_limit_rpm: number | null
  rate_limit_tpm: number | null
  cost_center: string | null
  expires_at: string | null
  managed_by: string
}

type MadeKey = Key & { key: string }

const byId = { id: { type: 'positional', required: true, description: 'Number of the key' } } as const

export const create = action({
  name: 'create',
  description: 'Make a client key. Its secret is printed once.',
  args: {
    label: { type: 'string', description: 'Name in lists and logs', valueHint: 'text' },
    models: { type: 'string', description: 'Globs of the models it may use, between commas; default: all', valueHint: 'globs' },
    rpm: { type: 'string', description: 'Requests a minute', valueHint: 'number' },
    tpm: { type: 'string', description: 'Tokens a minute', valueHint: 'number' },
    'cost-center': { type: 'string', description: 'For whom it is counted', valueHint: 'text' },
    expires: { type: 'string', description: 'When it ends: 30d, 14:30, 2027-01-31, RFC 3339; default: never', valueHint: 'time' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: {
    label: 'label',
    allowed_models: 'models',
    rate_limit_rpm: 'rpm',
    rate_limit_tpm: 'tpm',
    cost_center: 'cost-center',
    expires_at: 'expires',
  },
  async run(given) {
    const body = {
      label: given.label,
      allowed_models: list(given.models),
      rate_limit_rpm: count('rpm', given.rpm),
      rate_limit_tpm: count('tpm', given.tpm),
      cost_center: given['cost-center'],
      expires_at: future('expires', given.expires),
    }
    const { made, budgets } = await withControlPlane(given, async ({ call }) => {
      const made = await call<MadeKey>('POST', '/api/keys', body)
      return { made, budgets: given.json ? [] : await budgetsOf(call, made.id) }
    })
    show(made, given.json, `Key ${made.id} (${made.label}) is made. The secret is shown this once.`)
    if (!given.json) await hint(made, budgets, given.url)
  },
})

export const listKeys = action({
  name: 'list',
  description: 'List client keys, all of them or one page.',
  args: {
    search: { type: 'string', description: 'Part of the label, the cost center or the end of the secret', valueHint: 'text' },
    limit: { type: 'string', description: 'Keys of one page, 1 to 1000; default: all keys', valueHint: 'number' },
    cursor: { type: 'string', description: '`next_cursor` of the page before', valueHint: 'cursor' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { q: 'search', limit: 'limit', cursor: 'cursor' },
  async run({ search: q, limit, cursor, ...given }) {
    const used = new Map<string, number>()
    const rate = (unit: string, { id }: Key, most: number | null) => {
      const now = used.get(`${unit} ${id}`)
      return now === undefined || most === null ? most : `${now} of ${most}`
    }
    const keys = await readQuickly(given, async ({ call }): Promise<KeyPage<Key>> => {
      const page: KeyPage<Key> =
        limit === undefined
          ? await allKeys<Key>(call, { q, cursor }).then((data) => ({ data, next_cursor: null, total: data.length }))
          : await call('GET', `/api/keys${queryOf({ q, limit, cursor })}`)
      // The use is in the memory of a server, or in Redis.
      if (given.url !== undefined && !given.json) await addUse(call, page.data, used)
      return page
    })
    if (given.json) return printJson(keys)
    const rows = keys.data.map((key) => [
      key.id,
      key.label,
      key.key_hint,
      key.allowed_models.length === 0 ? 'all' : key.allowed_models,
      rate('rpm', key, key.rate_limit_rpm),
      rate('tpm', key, key.rate_limit_tpm),
      key.cost_center,
      key.expires_at,
      key.managed_by,
    ])
    console.log(
      table(
        ['ID', 'LABEL', 'SECRET', 'MODELS', 'RPM', 'TPM', 'COST CENTER', 'EXPIRES', 'FROM'],
        rows.map((row) => row.map(cell)),
      ),
    )
    if (keys.next_cursor !== null) say.info(`${keys.total} in all. The next page: --cursor ${keys.next_cursor}`)
  },
})

interface Use {
  key_id: number
  requests_per_minute: { used: number } | null
  tokens_per_minute: { used: number } | null
}

const IDS_AT_ONCE = 200

/** Adds what the keys use of their limits now. */
async function addUse(call: ControlPlane['call'], keys: readonly Key[], to: Map<string, number>): Promise<void> {
  const limited = keys.filter(({ rate_limit_rpm, rate_limit_tpm }) => rate_limit_rpm !== null || rate_limit_tpm !== null)
  for (let at = 0; at < limited.length; at += IDS_AT_ONCE) {
    const ids = limited.slice(at, at + IDS_AT_ONCE).map(({ id }) => id)
    const { data } = await call<{ data: Use[] }>('GET', `/api/rate-limits${queryOf({ key_id: ids.join(',') })}`)
    for (const { key_id, requests_per_minute, tokens_per_minute } of data) {
      if (requests_per_minute !== null) to.set(`rpm ${key_id}`, requests_per_minute.used)
      if (tokens_per_minute !== null) to.set(`tpm ${key_id}`, tokens_per_minute.used)
    }
  }
}

export const revoke = action({
  name: 'revoke',
  description: 'End a client key: here at once, on running servers within two seconds.',
  args: { ...byId, ...JSON_FLAG, ...PLANE },
  async run(given) {
    const key = id(given.id)
    const answer = await withControlPlane(given, ({ call }) => call('DELETE', `/api/keys/${key}`))
    if (given.json) printJson(answer)
    else say.success(`Key ${key} is revoked.`)
  },
})

export const rotate = action({
  name: 'rotate',
  description: 'Give a client key a new secret, printed once. The old one ends.',
  args: { ...byId, ...JSON_FLAG, ...PLANE },
  async run(given) {
    const made = await withControlPlane(given, ({ call }) => call<MadeKey>('POST', `/api/keys/${id(given.id)}/rotate`))
    show(made, given.json, `Key ${made.id} (${made.label}) has a new secret, shown this once. The old one is of no use now.`)
  },
})

function show(made: MadeKey, json: boolean | undefined, words: string): void {
  if (json) return printJson(made)
  say.success(words)
  console.log(made.key)
}

interface Budget {
  scope: string
  entity_id: number | null
  window: string
  hard_limit_usd: number
}

/** Names the budget that GATEWAY_DEFAULT_KEY_BUDGET_USD gave the key. Without it the secret is still worth printing. */
async function budgetsOf(call: ControlPlane['call'], key: number): Promise<string[]> {
  const { data } = await call<{ data: Budget[] }>('GET', '/api/budgets').catch(() => ({ data: [] }))
  const own = data.filter(({ scope, entity_id }) => scope === 'key' && entity_id === key)
  return own.map(({ window, hard_limit_usd }) => `budget ${usd(hard_limit_usd)} ${window} (default)`)
}

/** Says what the key may do, and how to call with it. */
async function hint(
  { id, allowed_models, rate_limit_rpm, rate_limit_tpm, expires_at }: MadeKey,
  budgets: readonly string[],
  server: string | undefined,
): Promise<void> {
  const limits = [
    `id ${id}`,
    `models ${allowed_models.length === 0 ? 'all' : cell(allowed_models.join(', '))}`,
    ...(rate_limit_rpm === null ? [] : [`${rate_limit_rpm} rpm`]),
    ...(rate_limit_tpm === null ? [] : [`${rate_limit_tpm} tpm`]),
    ...budgets,
    ...(expires_at === null ? [] : [`until ${expires_at}`]),
  ]
  const { GATEWAY_HOST = '127.0.0.1', GATEWAY_PORT = '8788' } = process.env
  const url = server?.replace(/\/$/, '') ?? `http://${GATEWAY_HOST === '0.0.0.0' ? '127.0.0.1' : GATEWAY_HOST}:${GATEWAY_PORT}`
  const { curl } = await import('../serve/banner.ts')
  say.log(`  ${limits.join(' · ')}`)
  say.log(`  ${styled('try', 'dim')}  ${curl(url, true)}`)
}
