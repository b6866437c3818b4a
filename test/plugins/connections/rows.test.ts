// Connections as rows, on both engines: they survive the process, other replicas follow, secrets are sealed in place.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { ask } from '../keys/support.ts'
import { add, call, list, MASTER_KEY } from './support.ts'

const CANARY = { key: 'sk-canary-key-4711', proxy: 'canary-proxy-4711', header: 'canary-header-4711' }
const custom = { provider: 'acme', base_url: 'http://127.0.0.1:9/v1', wire_format: 'chat' }
const secretive = {
  ...custom,
  api_key: CANARY.key,
  proxy_url: `http://user:${CANARY.proxy}@127.0.0.1:9`,
  headers: { authorization: `Basic ${CANARY.header}` },
}
const noPostgres = await whyNoPostgres()

interface Place {
  env: Record<string, string>
  remove(): Promise<void> | void
}

const places: Record<string, { skipped: string | null; open(): Promise<Place> | Place }> = {
  SQLite: {
    skipped: null,
    open() {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
      return { env: { DATA_DIR: dir, MASTER_KEY }, remove: () => rmSync(dir, { recursive: true }) }
    },
  },
  PostgreSQL: {
    skipped: noPostgres,
    async open() {
      const { url, drop } = await testPostgres()
      return { env: { DATABASE_URL: url, MASTER_KEY }, remove: drop }
    },
  },
}

for (const [engine, { skipped, open }] of Object.entries(places)) {
  describe.skipIf(skipped !== null)(skipped === null ? engine : `${engine} (${skipped})`, () => {
    let place: Place
    const running: TestGateway[] = []
    beforeAll(async () => {
      place = await open()
    })
    const started = async (options: TestGatewayOptions = {}) => {
      const t = await createTestGateway({ config: { connections: {} }, ...options, env: { ...place.env, ...options.env } })
      running.push(t)
      return t
    }
    afterEach(async () => {
      for (const t of running.splice(0)) await t.close()
    })
    afterAll(() => place.remove())

    it('a restart keeps rows and their secrets', async () => {
      const first = await started()
      const upstream = { ...custom, provider: 'lasting', base_url: first.upstream.baseUrl('chat'), api_key: CANARY.key }
      const made = await add(first, {
        ...upstream,
        allowed_models: ['m'],
        metadata: { a: true },
        headers: { 'x-a': 'still-here' },
      })
      await first.gateway.close()
      const again = await started()
      expect((await list(again)).find(({ id }) => id === made.id)).toEqual(made)
      expect((await again.post('/v1/chat/completions', ask('lasting/m'))).status).toBe(200)
      const sent = JSON.stringify(first.upstream.requests.at(-1)?.headers)
      expect(sent).toContain(CANARY.key)
      expect(sent).toContain('still-here')
    })

    it('another replica sees a change within two seconds, and a new one at once', async () => {
      const clock = fakeClock()
      const [one, two] = [await started(), await started({ ports: { clock } })]
      const made = await add(one, { ...custom, provider: 'spread' })
      const labelOn = async (t: TestGateway) => (await list(t)).find(({ id }) => id === made.id)?.label
      expect(await labelOn(one)).toBe('spread')
      const within = async (wanted: string | undefined) => {
        await clock.advance('2s')
        // SQLite answers in the same turn, so the result is exact.
        if (engine === 'SQLite') expect(await labelOn(two)).toBe(wanted)
        else await whileTimePasses(clock, () => labelOn(two)).toBe(wanted)
      }
      await within('spread')
      await call(one, 'PUT', `/api/providers/${made.id}`, { label: 'renamed' })
      await within('renamed')
      expect(await labelOn(await started())).toBe('renamed')
      await call(one, 'DELETE', `/api/providers/${made.id}`)
      await within(undefined)
    })

    it('a sealed value that is moved to another row or column does not open, and the others go on', async () => {
      const t = await started()
      const [from, to, third] = [
        await add(t, { ...secretive, provider: 'from' }),
        await add(t, { ...secretive, provider: 'to' }),
        await add(t, { ...secretive, provider: 'third' }),
      ]
      const { db } = t.gateway
      await db?.run(
        sql`UPDATE connections SET secret = (SELECT secret FROM connections WHERE id = ${from.id}) WHERE id = ${to.id}`,
      )
      await db?.run(sql`UPDATE connections SET secret = headers WHERE id = ${third.id}`)
      const again = await started()
      const state = async () =>
        Object.fromEntries((await list(again)).map(({ id, state, has_api_key }) => [id, [state.status, has_api_key]]))
      expect(await state()).toMatchObject({
        [from.id]: ['active', true],
        [to.id]: ['unreadable', false],
        [third.id]: ['unreadable', false],
      })
      expect((await again.post('/v1/chat/completions', ask('to/m'))).status).toBe(400)
      await call(again, 'PUT', `/api/providers/${to.id}`, { api_key: 'sk-entered-again-1' })
      await call(again, 'DELETE', `/api/providers/${third.id}`)
      expect(await state()).toMatchObject({ [to.id]: ['active', true] })
      expect(Object.keys(await state())).not.toContain(String(third.id))
    })

    it('secrets lie sealed in their columns', async () => {
      const t = await started()
      const made = await add(t, { ...secretive, provider: 'sealed' })
      const columns = await t.gateway.db?.get(sql`SELECT secret, proxy_url, headers FROM connections WHERE id = ${made.id}`)
      for (const [column, value] of Object.entries(columns ?? {})) expect(value, column).not.toMatch(/canary/)
      expect(Object.keys(columns ?? {})).toHaveLength(3)
    })

    it('a deleted connection keeps its row and loses its secrets', async () => {
      const t = await started()
      const made = await add(t, { ...secretive, provider: 'history' })
      await call(t, 'DELETE', `/api/providers/${made.id}`)
      const row = await t.gateway.db?.get(
        sql`SELECT provider, secret, proxy_url, headers, archived_at FROM connections WHERE id = ${made.id}`,
      )
      expect(row).toEqual({ provider: 'history', secret: null, proxy_url: null, headers: null, archived_at: expect.any(Number) })
    })
  })
}

describe('canaries', () => {
  it('no secret is in the bytes of the database, in an answer or in an error', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hookgate-'))
    const t = await createTestGateway({ config: { connections: {} }, env: { DATA_DIR: dir, MASTER_KEY } })
    const made = await add(t, secretive)
    const answers = [
      await t.fetch('/api/providers'),
      await t.fetch(`/api/providers/${made.id}`),
      await call(t, 'PUT', `/api/providers/${made.id}`, { label: 'x' }),
      await call(t, 'PUT', `/api/providers/${made.id}`, { proxy_url: `ftp://user:${CANARY.proxy}@x.test` }),
      await call(t, 'PUT', `/api/providers/${made.id}`, { api_key: `${CANARY.key} ` }),
      await call(t, 'PUT', `/api/providers/${made.id}`, { headers: { 'x-a': `${CANARY.header}\n` } }),
      await call(t, 'POST', '/api/providers', { ...secretive, provider: 'No' }),
      await call(t, 'POST', `/api/providers/${made.id}/test`, { model: 'm' }),
      await t.post('/v1/chat/completions', ask('acme/m')),
      await t.fetch('/api/registry'),
      await t.fetch('/metrics'),
    ]
    for (const answer of answers) expect(await answer.text(), answer.url).not.toMatch(/canary/)
    await call(t, 'DELETE', `/api/providers/${made.id}`)
    await t.close()
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.length).toBeGreaterThan(0)
    for (const { parentPath, name } of files) {
      const bytes = readFileSync(join(parentPath, name)).toString('latin1')
      for (const canary of Object.values(CANARY)) expect(bytes.includes(canary), name).toBe(false)
    }
    rmSync(dir, { recursive: true })
  })
})
