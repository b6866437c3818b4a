// Posts one record for each request to a URL, at least once. The record is written in the request's own transaction.
import { definePlugin, sql } from 'hookgate'
import { z } from 'zod'

export const httpOutbox = definePlugin({
  name: 'http-outbox',
  config: z.object({ url: z.url(), everyMs: z.int().min(100).default(5000) }),
  migrations: [{ id: '001-rows', up: 'CREATE TABLE http_outbox (request_id TEXT PRIMARY KEY, record TEXT NOT NULL)' }],
  setup({ hook, db, internalHttp, every }, { url, everyMs }) {
    hook('settle', (ctx, { status, latencyMs, usage, chargeNano }, unit) => {
      const record = JSON.stringify({
        request_id: ctx.id,
        model: ctx.requestedModel,
        status,
        latency_ms: latencyMs,
        tokens: usage.total,
        charge_nano_usd: chargeNano,
      })
      // A unit may be applied twice after a lost connection, so the statement must be safe to repeat.
      unit.add({ sql: sql`INSERT INTO http_outbox VALUES (${ctx.id}, ${record}) ON CONFLICT DO NOTHING` })
    })
    every('send', everyMs, async (signal) => {
      const rows = await db.all<{ request_id: string; record: string }>(sql`SELECT * FROM http_outbox LIMIT 100`)
      if (rows.length === 0) return
      // A failure throws: the job is logged, and the rows stay for the next run.
      await internalHttp(url, { method: 'POST', body: { records: rows.map(({ record }) => JSON.parse(record)) }, signal })
      for (const { request_id } of rows) await db.run(sql`DELETE FROM http_outbox WHERE request_id = ${request_id}`)
    })
  },
})
