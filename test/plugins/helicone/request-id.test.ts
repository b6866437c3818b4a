// `Helicone-Request-Id`: the caller's UUID becomes the id of its request, once; the ledger never mixes two requests.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { ask, DIALECTS, lastContext } from './support.ts'

const OWN = /^req_[0-9a-f-]{36}$/
let t: TestGateway
afterEach(() => t.close())
const start = async (options: TestGatewayOptions = {}) => {
  t = await createTestGateway({ upstream: [text('hello')], ...options })
}
const db = () => t.gateway.db as Database
const idOf = ({ headers }: { headers: Headers }) => headers.get('x-gateway-request-id')
const log = async (path: string) => (await (await t.fetch(`/api/logs${path}`)).json()) as Record<string, unknown>

describe('Helicone-Request-Id', () => {
  for (const dialect of DIALECTS)
    for (const stream of [false, true])
      it(`is the id of a ${dialect} request, ${stream ? 'streamed' : 'whole'}: in the answer, the log and the books`, async () => {
        await start()
        const id = crypto.randomUUID()
        const seen = await ask(t, { 'Helicone-Request-Id': ` ${id.toUpperCase()} ` }, { dialect, stream })
        expect(seen.status).toBe(200)
        expect(seen.headers.get(dialect === 'messages' ? 'request-id' : 'x-request-id')).toBe(id)
        expect([idOf(seen), seen.headers.get('helicone-id'), lastContext(t).id]).toEqual([id, id, id])
        expect(await log(`/${id}`)).toMatchObject({ request_id: id, status: 200 })
        expect(await log(`?q=${id.slice(0, 9)}`)).toMatchObject({ data: [{ request_id: id }] })
      })

  it('taken before: each further request has an id of its own, in the books too, however many come at once', async () => {
    await start()
    const id = crypto.randomUUID()
    const seen = await Promise.all(
      Array.from({ length: 8 }, () => t.post('/v1/chat/completions', BODY, { 'helicone-request-id': id })),
    )
    await t.untilSettled(8)
    const ids = seen.map(idOf)
    expect(new Set(ids).size).toBe(8)
    expect(ids.filter((each) => each === id)).toHaveLength(1)
    expect(ids.filter((each) => OWN.test(each ?? ''))).toHaveLength(7)
    const booked = () => db().all<{ request_id: string }>(sql`SELECT request_id FROM ledger_usage`)
    await expect.poll(async () => (await booked()).map((row) => row.request_id).sort()).toEqual([...ids].sort())
    const again = await ask(t, { 'helicone-request-id': id })
    expect(idOf(again)).toMatch(OWN)
    expect(lastContext(t).properties).toEqual({ request_id: id })
  })

  it.each([
    'not a uuid',
    '',
    'req_0190c2f4-8f5e-7b2a-9d1c-2f3a4b5c6d7e',
    '0190c2f4',
    `${crypto.randomUUID()}, ${crypto.randomUUID()}`,
  ])('that is no UUID is passed over: %s', async (given) => {
    await start()
    const seen = await ask(t, { 'helicone-request-id': given })
    expect(seen.status).toBe(200)
    expect(idOf(seen)).toMatch(OWN)
    expect(seen.headers.get('helicone-id')).toBe(idOf(seen))
  })

  it('names a refused request as well', async () => {
    await start()
    const id = crypto.randomUUID()
    const seen = await ask(t, { 'helicone-request-id': id }, { more: { model: 'nobody/m' } })
    expect([seen.status, idOf(seen)]).toEqual([400, id])
    expect(await log(`/${id}`)).toMatchObject({ status: 400 })
  })

  it('of a caller without a valid key is not taken', async () => {
    await start()
    const id = crypto.randomUUID()
    const refused = await ask(t, { 'helicone-request-id': id, authorization: 'Bearer gw_unknown' })
    expect(refused.status).toBe(401)
    expect(idOf(refused)).toMatch(OWN)
    expect(idOf(await ask(t, { 'helicone-request-id': id }))).toBe(id)
  })

  it('is free again when nothing can name it any more, and not before', async () => {
    const clock = fakeClock()
    await start({ ports: { clock }, env: { USAGE_RETENTION_DAYS: '3', LOG_RETENTION_DAYS: '5' } })
    const id = crypto.randomUUID()
    expect(idOf(await ask(t, { 'helicone-request-id': id }))).toBe(id)
    const older = async (days: number) => {
      await db().run(sql`UPDATE helicone_request_ids SET at = at - ${days * 86_400_000}`)
      await clock.advance(2 * 3_600_000)
    }
    await older(11)
    expect(idOf(await ask(t, { 'helicone-request-id': id }))).toMatch(OWN)
    await older(1)
    await expect.poll(async () => db().all(sql`SELECT 1 FROM helicone_request_ids`)).toEqual([])
    expect(idOf(await ask(t, { 'helicone-request-id': id }))).toBe(id)
  })
})

const BODY = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }
