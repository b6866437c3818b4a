// Several processes over one database (RELIABILITY A9, K11): what one is told, the others hold to within two seconds.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { REDIS_URL, whyNoRedis } from '../../support/redis.ts'
import { ask, bearer, makeKey } from './support.ts'

interface Site {
  env: Record<string, string>
  end(): Promise<void>
}

const MASTER_KEY = randomBytes(32).toString('base64')
const noServers = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

const SITES: [string, string, () => Promise<Site>][] = [
  [
    'one SQLite file',
    '',
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-replicas-'))
      return { env: { DATA_DIR: dir }, end: async () => rmSync(dir, { recursive: true, force: true }) }
    },
  ],
  [
    'PostgreSQL and Redis',
    noServers,
    async () => {
      const database = await testPostgres()
      // A store too slow for this machine then shows as 503, never as one call too many.
      const env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY, LIMITER_REDIS_FALLBACK: 'fail-closed' }
      return { env, end: () => database.drop() }
    },
  ],
]

const chat = (t: TestGateway, key: string) => t.post('/v1/chat/completions', ask('chat/m'), bearer(key))

async function within(ms: number, condition: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  while (!(await condition())) {
    if (performance.now() - started > ms) throw new Error(`Not within ${ms} ms.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return performance.now() - started
}

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== '')(`two gateways over ${name}${missing && ` (skipped: ${missing})`}`, () => {
    const pair = async (run: (a: TestGateway, b: TestGateway, site: Site) => Promise<void>) => {
      const site = await open()
      const gateways = [await createTestGateway({ env: site.env }), await createTestGateway({ env: site.env })] as const
      try {
        await run(...gateways, site)
      } finally {
        for (const gateway of gateways) await gateway.close()
        await site.end()
      }
    }

    it('a key made on one works on the other, and is refused there within two seconds of its revocation', async () => {
      await pair(async (a, b) => {
        const { id, key } = await makeKey(a)
        expect((await chat(a, key)).status).toBe(200)
        await within(2000, async () => (await chat(b, key)).status === 200)
        const running = Array.from({ length: 100 }, () => chat(b, key))
        await a.fetch(`/api/keys/${id}`, { method: 'DELETE' })
        expect((await chat(a, key)).status).toBe(401)
        await within(2000, async () => (await chat(b, key)).status === 401)
        for (const response of await Promise.all(running)) expect([200, 401]).toContain(response.status)
        expect((await chat(a, key)).status).toBe(401)
        expect((await chat(b, key)).status).toBe(401)
      })
    })

    it('everything is still there after a restart', async () => {
      const site = await open()
      const first = await createTestGateway({ env: site.env })
      const { key, id } = await makeKey(first, { label: 'kept', rate_limit_rpm: 5 })
      await first.close()
      const second = await createTestGateway({ env: site.env })
      expect((await chat(second, key)).status).toBe(200)
      const { data } = (await (await second.fetch('/api/keys')).json()) as { data: { id: number; label: string }[] }
      expect(data).toMatchObject([{ id, label: 'kept', rate_limit_rpm: 5 }])
      await second.close()
      await site.end()
    })

    // SQLite has no shared store: rates are each process's own there (`hookgate doctor` says so).
    if (name === 'one SQLite file') return

    it('an rpm cap of 60 is 60 over both together', async () => {
      await pair(async (a, b) => {
        const { key } = await makeKey(a, { rate_limit_rpm: 60 })
        await within(2000, async () => (await b.post('/v1/chat/completions', {}, bearer(key))).status === 400)
        const statuses = await Promise.all(
          Array.from({ length: 200 }, async (_, i) => {
            const response = await (i % 2 ? a : b).post('/v1/messages/count_tokens', ask('chat/m'), bearer(key))
            await response.arrayBuffer()
            return response.status
          }),
        )
        const count = (status: number) => statuses.filter((one) => one === status).length
        expect(count(200)).toBeLessThanOrEqual(60)
        expect(count(200) + count(503)).toBeGreaterThanOrEqual(60)
        expect(count(200) + count(429) + count(503)).toBe(200)
      })
    })
  })
}
