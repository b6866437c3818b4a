// The end of a gateway: jobs stop, the last settlements are stored, `close` hooks run, then plugins are torn down.
import { afterEach, expect, it } from 'vitest'
import { hang, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'

let t: TestGateway
afterEach(() => t.close())

const migrations = [{ id: '001-rows', up: 'CREATE TABLE diary_rows (id TEXT PRIMARY KEY, status {{int}} NOT NULL);' }]

/** Writes a row for each request with its settlement, and reads all of them in `close`. */
function diary(events: string[]) {
  return definePlugin({
    name: 'diary',
    migrations,
    setup(gateway) {
      const { db } = gateway
      gateway.every('look', 5, async () => {
        events.push('job')
        await new Promise((resolve) => setTimeout(resolve, 1))
      })
      gateway.hook('settle', (ctx, { status }, unit) => {
        unit.add({ sql: sql`INSERT INTO diary_rows (id, status) VALUES (${ctx.id}, ${status})` })
      })
      gateway.hook('close', async () => {
        const rows = await db.all<{ status: number }>(sql`SELECT status FROM diary_rows ORDER BY status`)
        events.push(`close: ${rows.map(({ status }) => status).join(', ')}`)
      })
      return () => void events.push('teardown')
    },
  })()
}

const ask = (model: string, stream = false) =>
  t.post('/v1/chat/completions', { model: `chat/${model}`, stream, messages: [{ role: 'user', content: 'Hi' }] })

it('stores what running requests settle before `close` hooks run', async () => {
  const events: string[] = []
  t = await createTestGateway({ plugins: [diary(events)], upstream: [reply({ text: 'Hello' }), hang()] })
  expect((await ask('a')).status).toBe(200)
  const waiting = ask('b')
  await expect.poll(() => events.filter((event) => event === 'job').length).toBeGreaterThan(1)
  await expect.poll(() => [...t.gateway.live()].length).toBe(1)
  await t.close()
  const { status } = await waiting
  expect(status).toBe(503)
  expect(events.filter((event) => event !== 'job')).toEqual(['close: 200, 503', 'teardown'])
  expect(events.slice(events.indexOf('close: 200, 503')), 'no job runs after the jobs were stopped').not.toContain('job')
})

it('`untilCommitted` resolves when the rows of the requests are there', async () => {
  const events: string[] = []
  t = await createTestGateway({ plugins: [diary(events)], upstream: [reply({ text: 'Hello' })] })
  const rows = async () => (await t.gateway.db?.all(sql`SELECT id FROM diary_rows`))?.length
  for (let count = 1; count <= 3; count++) {
    await (await ask('a', count === 2)).text()
    await t.untilCommitted(count)
    expect(await rows()).toBe(count)
  }
})
