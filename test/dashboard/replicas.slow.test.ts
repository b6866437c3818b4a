// Two replicas over PostgreSQL and Redis, a dashboard at each: a key that is revoked in one is refused by the other within two seconds.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { ask, bearer, makeKey } from '../plugins/keys/support.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../support/redis.ts'
import { BROWSER, openPage } from './browser.ts'

const missing = [BROWSER === null ? 'no chromium' : null, await whyNoPostgres(), await whyNoRedis()].filter((one) => one !== null)
/** The promise of the product. */
const WITHIN_MS = 2000

patientRedis()

describe.skipIf(missing.length > 0)(`dashboards of two replicas ${missing.join('; ')}`, () => {
  let database: TestPostgres
  let replicas: TestGateway[] = []
  let origins: string[] = []
  beforeEach(async () => {
    database = await testPostgres()
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL,
      MASTER_KEY: randomBytes(32).toString('base64'),
      LIMITER_REDIS_FALLBACK: 'fail-closed',
      PRICING_SYNC_ENABLED: 'false',
    }
    for (let i = 0; i < 2; i++) replicas.push(await createTestGateway({ env, upstream: [text('hi')] }))
    await reachedRedis(...replicas)
    origins = await Promise.all(replicas.map(async (t) => (await t.listen()).url))
  })
  afterEach(async () => {
    for (const t of replicas) await t.close()
    replicas = []
    await database.drop()
  })

  it('a key that one revokes is refused by the other within two seconds, and its dashboard shows that', async () => {
    const [a, b] = replicas as [TestGateway, TestGateway]
    const { key } = await makeKey(a, { label: 'leaked' })
    await makeKey(a, { label: 'stays' })
    const status = async (): Promise<number> => {
      const response = await b.post('/v1/chat/completions', ask('chat/m'), bearer(key))
      await response.arrayBuffer()
      return response.status
    }
    expect(await status()).toBe(200)
    const first = await openPage(origins[0] as string, '/keys')
    const second = await openPage(origins[1] as string, '/keys')
    for (const { page } of [first, second]) await page.getByRole('row', { name: /^leaked/ }).waitFor()
    await first.page.getByRole('button', { name: 'leaked' }).click()
    first.page.on('dialog', (dialog) => void dialog.accept())
    const answered = first.page.waitForResponse((answer) => answer.request().method() === 'DELETE')
    await first.page.getByRole('button', { name: 'Revoke' }).click()
    const dialog = first.page.getByRole('dialog')
    if ((await dialog.count()) > 0) await dialog.getByRole('button', { name: /revoke/i }).click()
    expect((await answered).ok()).toBe(true)
    const revoked = performance.now()
    await expect.poll(status, { interval: 20 }).toBe(401)
    expect(performance.now() - revoked).toBeLessThan(WITHIN_MS)
    await expect.poll(() => first.page.getByRole('row', { name: /^leaked/ }).count()).toBe(0)
    // The reader comes back to the other tab.
    const other = second.page
    await other.evaluate('{ const now = Date.now; Date.now = () => now() + 60_000 }')
    await other.evaluate('dispatchEvent(new Event("focus"))')
    await expect.poll(() => other.getByRole('row', { name: /^leaked/ }).count()).toBe(0)
    expect(await other.getByRole('row', { name: /^stays/ }).count()).toBe(1)
    await first.close()
    await second.close()
  })
})
