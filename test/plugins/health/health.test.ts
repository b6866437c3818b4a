// Health routes: their answers while the database or the shared store is unavailable.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { type WatchedDatabase, watchedDatabase } from '../../support/watched-database.ts'

describe('health', () => {
  let t: TestGateway
  let db: WatchedDatabase
  const get = async (path: string) => {
    const response = await t.fetch(path)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  beforeAll(async () => {
    db = watchedDatabase(sqliteDatabase({ path: ':memory:' }))
    t = await createTestGateway({ ports: { db } })
  })
  afterAll(async () => {
    db.away = false
    await t.close()
    await db.close()
  })

  it('healthz has these members and no others: no path, no address, no version of a dependency', async () => {
    const { status, body } = await get('/healthz')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 'ok',
      profile: 'local',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      database: { ok: true, kind: 'sqlite', latency_ms: expect.any(Number) },
      shared_store: { configured: false },
    })
  })

  it('readiness is 503 while the database is away and recovers by itself; healthz stays 200, liveliness asks nobody', async () => {
    expect((await get('/health/readiness')).status).toBe(200)
    db.away = true
    expect(await get('/health/readiness')).toEqual({ status: 503, body: { status: 'database_unreachable' } })
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'degraded', database: { ok: false } } })
    const before = db.asked.length
    expect(await get('/health/liveliness')).toEqual({ status: 200, body: { status: 'ok' } })
    expect(db.asked.length).toBe(before)
    db.away = false
    expect((await get('/health/readiness')).status).toBe(200)
    expect((await get('/healthz')).body.status).toBe('ok')
  })

  it('a write while the database is away is 503 storage_unavailable, and changes nothing', async () => {
    db.away = true
    const refused = await t.post('/api/keys', { label: 'lost' })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { type: 'api_error', code: 'storage_unavailable', param: null } })
    db.away = false
    expect(await (await t.fetch('/api/keys')).json()).toEqual({ data: [], next_cursor: null, total: 0 })
  })

  it('a shared store that cannot be reached is shown, and costs no readiness', async () => {
    const lonely = await createTestGateway({ env: { REDIS_URL: 'redis://:hidden-secret@127.0.0.1:1/0' } })
    const body = await (await lonely.fetch('/healthz')).text()
    expect(JSON.parse(body)).toMatchObject({ status: 'degraded', shared_store: { configured: true, ok: false, mode: 'local' } })
    expect(body).not.toContain('hidden-secret')
    expect((await lonely.fetch('/health/readiness')).status).toBe(200)
    await lonely.close()
  })
})
