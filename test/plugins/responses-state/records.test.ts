// /api/responses: an administrator lists, reads, exports and deletes what is stored, also when storing is off.
import { afterEach, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { wallClock } from '../budgets/support.ts'
import { makeKey } from '../keys/support.ts'

let t: TestGateway
let clock = wallClock()
afterEach(() => t.close())

interface Stored {
  id: string
  object: string
  key_id: number | null
}

async function api<T = unknown>(method: string, path: string): Promise<{ status: number; body: T }> {
  const response = await t.fetch(`/api/responses${path}`, { method, headers: { 'content-type': 'application/json' } })
  return { status: response.status, body: (await response.json()) as T }
}

async function make(key: string, input: string): Promise<string> {
  const settled = t.settled.length
  const response = await t.post('/v1/responses', { model: 'chat/m', input }, { authorization: `Bearer ${key}` })
  await t.untilCommitted(settled + 1)
  clock.jump(1 / 3600)
  return ((await response.json()) as { id: string }).id
}

it('lists, reads, exports and deletes by response, by key and in whole', async () => {
  clock = wallClock()
  t = await createTestGateway({ upstream: [reply({ text: 'An answer.' })], ports: { clock } })
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const first = await make(alice.key, 'A question')
  const second = await make(alice.key, 'Another')
  const other = await make(bob.key, 'Of Bob')
  const made = await t.post('/v1/conversations', { metadata: { a: 'b' } }, { authorization: `Bearer ${alice.key}` })
  const { id: conversation } = (await made.json()) as { id: string }

  const all = await api<{ data: Stored[]; next_cursor: string | null }>('GET', '')
  expect(all.body.data.map(({ id }) => id)).toEqual([conversation, other, second, first])
  expect(JSON.stringify(all.body)).not.toMatch(/question|answer/)
  const page = await api<{ data: Stored[]; next_cursor: string }>('GET', '?limit=3')
  const rest = await api<{ data: Stored[] }>('GET', `?limit=3&cursor=${page.body.next_cursor}`)
  expect([...page.body.data, ...rest.body.data]).toEqual(all.body.data)
  const ofBob = await api<{ data: Stored[] }>('GET', `?key_id=${bob.id}`)
  expect(ofBob.body.data.map(({ id }) => id)).toEqual([other])

  const read = await api('GET', `/${first}`)
  expect(read.body).toMatchObject({
    id: first,
    key_id: Number(alice.id),
    input: [{ role: 'user', content: [{ text: 'A question' }] }],
    response: { id: first, output: [{ content: [{ text: 'An answer.' }] }] },
  })
  expect((await api('GET', `/${conversation}`)).body).toMatchObject({ object: 'conversation', input: [], metadata: { a: 'b' } })
  const exported = await (await t.fetch(`/api/responses/export?key_id=${alice.id}`)).text()
  const lines = exported.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as Stored).id)).toEqual([conversation, second, first])

  expect(await api('DELETE', `/${first}`)).toEqual({ status: 200, body: { id: first, deleted: true } })
  for (const id of [first, 'resp_1', first.replace(/.$/, 'g')]) expect((await api('DELETE', `/${id}`)).status).toBe(404)
  expect((await api('DELETE', '')).status).toBe(400)
  expect((await api('DELETE', `?key_id=${alice.id}`)).body).toEqual({ deleted: 2 })
  expect((await api<{ data: Stored[] }>('GET', '')).body.data.map(({ id }) => id)).toEqual([other])
  expect((await api('DELETE', '?all=true')).body).toEqual({ deleted: 1 })
})

it('is off in the profile cloud unless it is switched on', async () => {
  const env = { PROFILE: 'cloud' }
  t = await createTestGateway({ upstream: [reply({ text: 'One.' })], env, ports: { clock: wallClock() } })
  const response = await t.post('/v1/responses', { model: 'chat/m', input: 'Hi' })
  expect(((await response.json()) as { id: string }).id ?? '').not.toMatch(/_gw/)
})
