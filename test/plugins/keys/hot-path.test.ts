// ARCHITECTURE D.3: in steady state a request reads nothing from the database, whatever its key binds.
import { expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { watchedDatabase } from '../../support/watched-database.ts'
import { ask, bearer, makeKey } from './support.ts'

it('a hundred requests with keys and limits, streamed and not, ask the database for nothing', async () => {
  const db = watchedDatabase(sqliteDatabase({ path: ':memory:' }))
  // The clock stands: what the background does on its own schedule is not counted.
  const t = await createTestGateway({ ports: { db, clock: fakeClock() } })
  const { key } = await makeKey(t, { allowed_models: ['chat/*'], rate_limit_rpm: 1000, rate_limit_tpm: 1e6, cost_center: 'x' })
  const once = async (body: object) => {
    const response = await t.post('/v1/chat/completions', body, bearer(key))
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  await once(ask('chat/m'))
  db.asked.length = 0
  for (let i = 0; i < 50; i++) {
    await once(ask('chat/m'))
    await once({ ...ask('chat/m'), stream: true })
  }
  await t.untilSettled(101)
  expect(db.asked).toEqual([])
  await t.close()
  await db.close()
})
