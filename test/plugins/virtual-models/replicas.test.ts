// Two gateways over one database: a name is given once, a change follows everywhere, and neither undoes what the other did.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import type { Made } from './support.ts'

const noPostgres = await whyNoPostgres()
const engines: [string, string, () => Promise<{ env: Record<string, string>; end(): Promise<void> }>][] = [
  [
    'SQLite',
    '',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-virtual-'))
      return { env: { DATA_DIR: dir }, end: async () => rmSync(dir, { recursive: true, force: true }) }
    },
  ],
  [
    'PostgreSQL',
    noPostgres ?? '',
    async () => {
      const database = await testPostgres()
      const env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') }
      return { env, end: () => database.drop() }
    },
  ],
]

for (const [name, missing, open] of engines) {
  describe.skipIf(missing !== '')(`virtual models on ${name}${missing && ` (skipped: ${missing})`}`, () => {
    it('are one set for both gateways', async () => {
      const { env, end } = await open()
      const [a, b] = [await createTestGateway({ env }), await createTestGateway({ env })] as const
      const send = (t: TestGateway, path: string, method: string, body?: object) =>
        t.fetch(`/api/virtual-models${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      const made = { name: 'vm', strategy: 'failover', targets: ['chat/m', 'messages/m'] }
      try {
        const both = await Promise.all([send(a, '', 'POST', made), send(b, '', 'POST', made)])
        expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
        const { id } = (await both.find(({ status }) => status === 201)?.json()) as Made
        const seen = async (t: TestGateway) => (await send(t, `/${id}`, 'GET')).status
        await expect.poll(async () => [await seen(a), await seen(b)]).toEqual([200, 200])
        const changes = [
          send(a, `/${id}`, 'PUT', { description: 'from a' }),
          send(b, `/${id}`, 'PUT', { config: { min_panel: 5 } }),
          send(b, `/${id}/toggle`, 'POST'),
          send(a, `/${id}/toggle`, 'POST'),
          send(a, `/${id}/toggle`, 'POST'),
        ]
        expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200))
        const expected = { description: 'from a', enabled: false, config: { min_panel: 5 } }
        const record = async (t: TestGateway) => (await send(t, `/${id}`, 'GET')).json() as Promise<Made>
        for (const t of [a, b]) await expect.poll(() => record(t), { timeout: 3000 }).toMatchObject(expected)
        expect((await send(a, '', 'POST', { ...made, name: 'second' })).status).toBe(201)
        const [first, second] = ((await (await send(a, '', 'GET')).json()) as { data: Made[] }).data
        expect((await send(a, '/reorder', 'POST', { ids: [second?.id, first?.id] })).status).toBe(200)
        expect((await send(a, `/${id}`, 'DELETE')).status).toBe(200)
        await expect.poll(() => seen(b), { timeout: 3000 }).toBe(404)
        expect((await send(b, '', 'POST', made)).status).toBe(201)
      } finally {
        for (const t of [a, b]) await t.close()
        await end()
      }
    })
  })
}
