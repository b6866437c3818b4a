// The progress of many running requests is written in several turns of the event loop, so that chunks of their streams do not wait.
import { expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import type { LiveRequest } from '../../../core/types/request/context.ts'
import { CHECKPOINT_MS, checkpoints } from '../../../plugins/ledger/checkpoints.ts'
import { migrations } from '../../../plugins/ledger/migrations.ts'
import { Traces } from '../../../plugins/ledger/traces.ts'

const KNOWN = [null, null, null, null, null, null, 'api', 'chat', 'p', 'm', 'p/m', null, false, 40]

/** A running stream that has sent `bytes` of text. */
function stream(id: string, bytes: number): LiveRequest {
  const candidate = { connection: { id: 'c', provider: 'p' }, target: { model: 'm' } }
  const ctx = { id, startedAt: 0, candidate, operation: 'chat', principal: { orgId: null } }
  return { ctx, contentBytes: bytes, usage: null, steps: [], calls: [] } as unknown as LiveRequest
}

it('writes 1,000 streams in turns of at most 64, each with its latest progress', async () => {
  const db = sqliteDatabase({ path: ':memory:' })
  await migrate(db, [{ name: 'ledger', migrations }])
  const clock = fakeClock()
  const traces = new Traces('boot')
  const ids = Array.from({ length: 1000 }, (_, i) => `req_${i}`)
  const entries = new Map(ids.map((id) => [id, { promptBytes: 40, trace: traces.begin(id, 0, KNOWN) }]))
  await db.commit([ids.map((id) => entries.get(id)?.trace as never)])
  await clock.advance(CHECKPOINT_MS)

  let written = 0
  const perTurn: number[] = []
  const counted = Object.assign(Object.create(db) as typeof db, {
    atomic: (...args: Parameters<typeof db.atomic>) => {
      written += args[0].length
      return db.atomic(...args)
    },
  })
  let bytes = 400
  const write = checkpoints(
    { db: counted, clock },
    () => ids.map((id, i) => stream(id, bytes + 4 * i)),
    () => undefined,
    (ctx) => entries.get(ctx.id) ?? null,
  )
  for (let time = 0; time < 2; time++, bytes += 4000) {
    let over = false
    const writing = write().finally(() => {
      over = true
    })
    while (!over) {
      written = 0
      await new Promise((resolve) => setImmediate(resolve))
      perTurn.push(written)
    }
    await writing
    const rows = await db.all<{ request_id: string; progress: string }>(sql`SELECT request_id, progress FROM ledger_dispatch`)
    const outputs = new Map(rows.map((row) => [row.request_id, JSON.parse(row.progress).output]))
    expect(outputs).toEqual(new Map(ids.map((id, i) => [id, bytes / 4 + i])))
  }
  // A request leaves the row that it shared when it gets its own: two statements.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2 * 64)
  expect(perTurn.filter((count) => count > 0).length).toBeGreaterThanOrEqual(2 * Math.floor(1000 / 64))
  await db.close()
})
