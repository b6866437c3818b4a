// `routing.account_rotation`: whose turn it is among the accounts of one target.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply } from '../../../adapters/testing/script.ts'
import { type World, type WorldOptions, world } from '../resilience/support.ts'

let w: World
afterEach(() => w.close())

const serialize = { 'routing.account_rotation': 'round_robin' } as const
const four = [{}, {}, {}, {}]
const start = async ({ config, ...options }: WorldOptions = {}) => {
  w = await world({ accounts: four, ...options, config: { settings: serialize, ...config } })
}
/** The place of the account that answered each of so many requests. */
const asked = async (count: number, model = 'm', headers: Record<string, string> = {}): Promise<string> => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) {
    const before = w.calls()
    const settled = w.t.settled.length
    const response = await w.chat(model, {}, headers)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    await w.t.untilSettled(settled + 1)
    seen.push(w.calls().findLastIndex((calls, index) => calls > (before[index] ?? 0)) + 1)
  }
  return seen.join('')
}
const virtual = async (more: object): Promise<number> => {
  const response = await w.t.post('/api/virtual-models', { name: 'vm', strategy: 'failover', targets: ['p/m'], ...more })
  expect(response.status).toBe(201)
  return ((await response.json()) as { id: number }).id
}
/** Virtual names have no provider in front. */
const named = async (count: number, headers: Record<string, string> = {}): Promise<string> => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) {
    const before = w.calls()
    const settled = w.t.settled.length
    const body = { model: 'vm', messages: [{ role: 'user', content: 'hi' }] }
    expect((await w.t.post('/v1/chat/completions', body, headers)).status).toBe(200)
    await w.t.untilSettled(settled + 1)
    seen.push(w.calls().findLastIndex((calls, index) => calls > (before[index] ?? 0)) + 1)
  }
  return seen.join('')
}

it('asks by priority unless the setting says otherwise, and follows it at once in both directions', async () => {
  await start({ config: { settings: {} } })
  expect(await asked(3)).toBe('111')
  const set = async (value: unknown) => {
    const body = JSON.stringify({ routing: { account_rotation: value } })
    return w.t.fetch('/api/settings', { method: 'PUT', body, headers: { 'content-type': 'application/json' } })
  }
  expect((await set('round_robin')).status).toBe(200)
  expect(await asked(5)).toBe('12341')
  expect((await set(null)).status).toBe(200)
  expect(await asked(2)).toBe('11')
  const refused = await set('random')
  expect([refused.status, ((await refused.json()) as { error: { param: string } }).error.param]).toEqual([
    400,
    'routing.account_rotation',
  ])
})

it('gives requests that come at once an account each', async () => {
  await start()
  await Promise.all(Array.from({ length: 8 }, () => w.status()))
  expect(w.calls()).toEqual([2, 2, 2, 2])
})

it('goes on to the account whose turn is next when one fails; who rests has no turn', async () => {
  await start({ accounts: [{}, { script: [fail(429, { headers: { 'retry-after': '60' } }), reply({ text: 'again' })] }, {}, {}] })
  expect(await asked(2)).toBe('13')
  expect(w.attempts().map(({ status }) => status)).toEqual([429, 200])
  expect(await asked(6)).toBe('413413')
  await w.clock.advance('60s')
  expect([...(await asked(4))].sort().join('')).toBe('1234')
})

it('has a cursor for each model and for counting tokens, so that no rhythm of a caller hides an account', async () => {
  await start({ accounts: [{ wireFormat: 'messages' }, { wireFormat: 'messages' }] })
  const seen: string[] = []
  for (let i = 0; i < 2; i++) seen.push(await asked(1, 'm'), await asked(1, 'n'))
  expect(seen.join('')).toBe('1122')
  const count = () =>
    w.t.post('/v1/messages/count_tokens', { model: 'p/m', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
  const paths = () => w.accounts.map(({ requests }) => requests.filter(({ path }) => path.includes('count_tokens')).length)
  await count()
  expect(await asked(1)).toBe('1')
  await count()
  expect(await asked(1)).toBe('2')
  expect(paths()).toEqual([1, 1])
})

describe('a virtual model', () => {
  it('turns the accounts of each target and leaves the order of targets to its strategy', async () => {
    await start()
    await virtual({ targets: ['p/m', 'p/n'] })
    expect(await named(5)).toBe('12341')
    expect(w.t.settled.every(({ ctx }) => ctx.candidate?.target.model === 'm')).toBe(true)
  })

  it('tries as many accounts as `max_attempts` says, and not always the same ones', async () => {
    await start()
    await virtual({ config: { max_attempts: 1 } })
    expect(await named(4)).toBe('1234')
  })

  it('keeps a session where it is, which takes no turn: every new one begins with the next', async () => {
    await start({ accounts: [{}, {}] })
    await virtual({})
    const seen: string[] = []
    for (const session of ['a', 'b', 'c']) seen.push(await named(2, { 'x-session-id': session }))
    expect(seen).toEqual(['11', '22', '11'])
  })

  it('moves nothing when it is previewed', async () => {
    await start()
    const id = await virtual({})
    const seen: string[] = []
    for (let i = 0; i < 4; i++) {
      expect((await w.t.fetch(`/api/virtual-models/${id}/preview`)).status).toBe(200)
      seen.push(await named(1))
    }
    expect(seen.join('')).toBe('1234')
  })

  it('takes one turn for each call of a fusion, also where the panel is left out for tools', async () => {
    await start()
    await virtual({ strategy: 'fusion', targets: ['p/m', 'p/n'], config: { judge: 'p/judge' } })
    await named(2)
    const models = w.accounts.map(({ requests }) => requests.map(({ json }) => json.model).sort())
    expect(models).toEqual([['judge', 'm', 'n'], ['judge', 'm', 'n'], [], []])
    await w.t.post('/api/virtual-models', { name: 'own', strategy: 'fusion', targets: ['p/t', 'p/n'] })
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const body = { model: 'own', messages: [{ role: 'user', content: 'hi' }], tools }
    for (let i = 0; i < 4; i++) expect((await w.t.post('/v1/chat/completions', body)).status).toBe(200)
    const tooled = w.accounts.map(({ requests }) => requests.filter(({ json }) => json.model === 't').length)
    expect(tooled).toEqual([1, 1, 1, 1])
  })
})
