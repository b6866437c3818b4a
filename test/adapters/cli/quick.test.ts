// `key list` and `token list` without a gateway print what they print with one.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SECTIONS } from '../../../adapters/cli/quick/declared-rows.ts'
import { MIGRATIONS } from '../../../adapters/cli/quick/migrations.ts'
import { OTHER_NAMES } from '../../../adapters/cli/quick/plain-place.ts'
import { quickly, READS } from '../../../adapters/cli/quick/quick.ts'
import { createGateway, knownVariables } from '../../../adapters/node/gateway.ts'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sql } from '../../../core/db/sql.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import type { Sql } from '../../../core/types/ports/db.ts'
import { preset } from '../../../plugins/preset.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const CONFIG = (content: string) => `import { defineConfig, secret } from 'hookgate'\nexport default defineConfig(${content})\n`
const ECHO = CONFIG("{ connections: { echo: { provider: 'echo' } } }")

/** A variable that says what is the default anyway. Only a gateway can judge it. */
const WHOLE = { GATEWAY_MAX_CONNECTIONS: '10000' }

let data: string

beforeAll(async () => {
  data = folder({})
  const env = { GATEWAY_DATA_DIR: data }
  const cwd = folder({})
  for (const label of ['first', 'second', 'third', 'gone'])
    await command(['key', 'create', '--label', label, '--models', 'gpt-*', '--rpm', '5', '--cost-center', 'cc'], { env, cwd })
  await command(['key', 'revoke', '4'], { env, cwd })
  await command(['token', 'create', '--label', 'ci', '--scope', 'read', '--expires', '30d'], { env, cwd })
}, 60_000)

interface World {
  readonly config?: string
  readonly env?: Record<string, string>
  /** Statements on the database before the command. */
  readonly statements?: readonly Sql[]
  /** Content of the file of the master key; null: it is missing. */
  readonly masterKey?: string | null
  readonly gone?: boolean
}

async function made({
  config,
  env,
  statements = [],
  masterKey,
  gone,
}: World): Promise<{ env: Record<string, string>; cwd: string }> {
  const copy = folder({})
  if (gone !== true) cpSync(data, copy, { recursive: true })
  if (masterKey === null) rmSync(join(copy, 'master.key'))
  else if (masterKey !== undefined) writeFileSync(join(copy, 'master.key'), masterKey)
  if (statements.length > 0) {
    const db = await openDatabase(null, copy)
    for (const statement of statements) await db.run(statement)
    await db.close()
  }
  return { env: { GATEWAY_DATA_DIR: copy, ...env }, cwd: folder(config === undefined ? {} : { 'gateway.config.ts': config }) }
}

/** Returns whether the paths are read without a gateway. */
async function isQuick({ env, cwd }: { env: Record<string, string>; cwd: string }): Promise<boolean> {
  const [environment, directory] = [process.env, process.cwd()]
  process.env = { HOME: '/', ...env }
  process.chdir(cwd)
  try {
    return (await quickly({}, ({ call }) => Promise.all(Object.keys(READS).map((path) => call('GET', path))))) !== null
  } finally {
    process.chdir(directory)
    process.env = environment
  }
}

const QUICK: [string, World][] = [
  ['no configuration', {}],
  ['a plain configuration', { config: ECHO }],
  [
    'rows of every kind',
    { config: CONFIG('{ connections: {}, keys: { a: {} }, budgets: {}, virtualModels: {}, webhooks: {} }') },
  ],
  [
    'a secret of the environment',
    { config: CONFIG("{ connections: { openai: { provider: 'openai', apiKey: secret.env('K') } } }"), env: { K: 'sk-1' } },
  ],
  ['an address of its database', { env: { GATEWAY_DATABASE_URL: 'sqlite:gateway.db' } }],
  ['the tables of another plugin', { statements: [sql`INSERT INTO gateway_migrations VALUES ('mine', '001', 'x', 0)`] }],
]

const NOT_QUICK: [string, World][] = [
  ['a wrong provider', { config: CONFIG("{ connections: { a: { provider: 'nobody' } } }") }],
  ['a wrong field', { config: CONFIG("{ connections: { a: { provider: 'echo', priority: 'high' } } }") }],
  ['an unknown section', { config: CONFIG('{ nothing: { a: {} } }') }],
  ['options', { config: CONFIG('{ options: { port: 1 } }') }],
  ['a plugin left out', { config: CONFIG('{ plugins: [] }') }],
  ['a missing secret', { config: CONFIG("{ connections: { openai: { provider: 'openai', apiKey: secret.env('K') } } }") }],
  ['a secret of a plugin', { config: CONFIG("{ keys: { a: { secret: secret.from('vault', 'k') } } }") }],
  ['a syntax error', { config: CONFIG('{ connections: ') }],
  ['a configuration that computes', { config: `globalThis.quickRuns = String(1)\n${ECHO}` }],
  ['an error of the configuration', { config: CONFIG('{ connections: undefined.a }') }],
  ['a wrong variable', { env: { GATEWAY_PORT: 'many' } }],
  ['a wrong name of the database', { env: { GATEWAY_DATABASE_URL: 'mysql://a' } }],
  ['the cloud profile', { env: { GATEWAY_PROFILE: 'cloud' } }],
  ['tenants', { env: { GATEWAY_MULTI_TENANT: 'true' } }],
  ['a newer database', { statements: [sql`INSERT INTO gateway_migrations VALUES ('keys', '999-new', 'x', 0)`] }],
  ['an older database', { statements: [sql`DELETE FROM gateway_migrations WHERE plugin = 'keys'`] }],
  ['a changed migration', { statements: [sql`UPDATE gateway_migrations SET checksum = 'x' WHERE plugin = 'keys'`] }],
  ['another master key', { masterKey: Buffer.alloc(32, 7).toString('base64') }],
  ['a master key that is none', { masterKey: 'short' }],
  ['no master key', { masterKey: null }],
  ['two master keys', { env: { GATEWAY_MASTER_KEY: 'a', GATEWAY_MASTER_KEY_PATH: 'b' } }],
  ['a damaged row', { statements: [sql`UPDATE keys SET allowed_models = '{' WHERE id = 1`] }],
  ['no data', { gone: true }],
]

describe.each([
  ...QUICK.map(([name, world]) => [name, world, true] as const),
  ...NOT_QUICK.map(([name, world]) => [name, world, false] as const),
])('with %s', (_, world, quick) => {
  it('the list is the same with and without a gateway', async () => {
    const place = await made(world)
    expect(await isQuick(place)).toBe(quick)
    const printed = await command(['key', 'list'], place)
    const whole = await command(['key', 'list'], { ...place, env: { ...place.env, ...WHOLE } })
    expect(printed).toEqual(whole)
    if (quick) expect(printed.stdout).toContain('first')
  })
})

it.each([
  ['key list --json', 0],
  ['key list --search sec', 0],
  ['key list --search nobody --json', 0],
  ['key list --limit 2', 0],
  ['key list --limit 2 --cursor 2 --json', 0],
  ['key list --limit 0', 2],
  ['key list --limit many', 2],
  ['token list', 0],
  ['token list --json', 0],
] as const)('`%s` prints the same with and without a gateway', async (words, code) => {
  const place = await made({})
  const printed = await command(words.split(' '), place)
  expect(printed).toEqual(await command(words.split(' '), { ...place, env: { ...place.env, ...WHOLE } }))
  expect(printed.code).toBe(code)
})

it('knows the migrations of the preset in their order', () => {
  const all = preset().map(({ name, definition }) => ({ name, migrations: definition.migrations ?? [] }))
  expect(MIGRATIONS).toEqual(all.filter(({ migrations }) => migrations.length > 0))
})

it('knows every name outside of GATEWAY_ that stands for a variable', () => {
  const names = knownVariables({}).flatMap(({ fallback }) => fallback ?? [])
  expect([...OTHER_NAMES].sort()).toEqual(names.sort())
})

it('knows the sections of the preset', async () => {
  const gateway: HostedGateway = await createGateway()
  const wrong = await gateway.reload(Object.fromEntries(SECTIONS.map((name) => [name, {}]))).then(() => null)
  await gateway.close()
  expect(wrong).toBeNull()
})
