// A plugin that writes to the ledger's transaction. It records requests that cost more than a limit in the transaction that books
// them, and sums their cost by key and day in ledger accounts. Both are written or neither, even when a process is killed.
//
//   npm run build && npx jiti examples/costly-requests.ts
//   curl -s -X PUT http://127.0.0.1:8788/api/pricing/overrides -H 'content-type: application/json' \
//     -d '{"data":[{"model":"echo/*","input":1000,"output":1000}]}'
//   curl -s http://127.0.0.1:8788/v1/chat/completions -H 'content-type: application/json' \
//     -d '{"model":"echo/echo-1","messages":[{"role":"user","content":"What does it cost to say so much?"}]}'
//   curl -s http://127.0.0.1:8788/api/costly-requests
import { createGateway, definePlugin, preset, serve, sql } from 'hookgate'
import { z } from 'zod'

const DAY_MS = 86_400_000
const NANO = 1e9

export const costlyRequests = definePlugin({
  name: 'costly-requests',
  requires: ['ledger'],
  config: z.object({ aboveUsd: z.number().min(0) }),
  migrations: [
    {
      id: '001-costly-requests',
      up: `CREATE TABLE costly_requests (
        request_id TEXT NOT NULL PRIMARY KEY,
        at {{int}} NOT NULL,
        key_label TEXT,
        model TEXT NOT NULL,
        charge_nano {{int}} NOT NULL
      )`,
    },
  ],
  setup(gateway, { aboveUsd }) {
    const ledger = gateway.use('ledger')
    const { clock, db, log } = gateway
    // Money is whole nano-dollars. The prefix of an account's name shows its owner.
    const account = (keyId: number | null, at: number) => ({ name: `costly:${keyId ?? 0}`, windowStart: at - (at % DAY_MS) })

    gateway.hook('settle', (ctx, { chargeNano }, unit) => {
      if (chargeNano === null || chargeNano <= aboveUsd * NANO) return
      const { keyId, label } = ctx.principal
      ledger.charge(ctx, [account(keyId, ctx.startedAt)])
      unit.add({
        // A unit may be applied twice, because a spool may replay it after an outage.
        sql: sql`INSERT INTO costly_requests (request_id, at, key_label, model, charge_nano)
                 VALUES (${ctx.id}, ${ctx.startedAt}, ${label}, ${ctx.requestedModel}, ${chargeNano})
                 ON CONFLICT (request_id) DO NOTHING`,
      })
      unit.afterCommit(() => log.warn('costly', { request: ctx.id, usd: chargeNano / NANO }))
    })

    const row = z.object({ request_id: z.string(), key_label: z.string().nullable(), model: z.string(), charge_nano: z.number() })
    gateway.api({
      method: 'GET',
      path: '/api/costly-requests',
      summary: 'Requests that cost more than the limit, newest first, and what they cost together today (in UTC).',
      response: z.strictObject({
        today_usd: z.number(),
        data: z.array(
          z.strictObject({
            request_id: z.string(),
            api_key_label: z.string().nullable(),
            model: z.string(),
            charge_usd: z.number(),
          }),
        ),
      }),
      async handler() {
        const rows = await db.all(sql`SELECT * FROM costly_requests ORDER BY at DESC LIMIT 100`, row)
        const { windowStart } = account(null, clock.now())
        const today = await ledger.balancesOf(db, 'costly:', windowStart)
        return {
          today_usd: today.reduce((sum, { spentNano }) => sum + spentNano, 0) / NANO,
          data: rows.map(({ request_id, key_label, model, charge_nano }) => ({
            request_id,
            api_key_label: key_label,
            model,
            charge_usd: charge_nano / NANO,
          })),
        }
      },
    })
  },
})

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({
    connections: { echo: { provider: 'echo' } },
    plugins: [...preset(), costlyRequests({ aboveUsd: 0.01 })],
  })
  return serve(gateway, { host: '127.0.0.1', port })
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}`)
