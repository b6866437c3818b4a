// POST /api/virtual-models/preview: what a draft would try, under assumptions, for a key; nothing is saved and nothing moves.
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../../adapters/testing/script.ts'
import { makeKey } from '../keys/support.ts'
import { refusalOf, type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}
const targets = (names: string) => names.split('').map((name) => `${name}/m`)

interface Seen {
  cursor: number
  order: { target: string }[]
  dropped: { target: string; reason: string; connections: { id: number; reason: string }[] }[]
  key?: object
  shadows_model: boolean
}
const ask = (body: object) => s.t.post('/api/virtual-models/preview', body)
const seen = async (body: object): Promise<Seen> => {
  const response = await ask(body)
  expect(response.status).toBe(200)
  return (await response.json()) as Seen
}
const order = async (body: object) => (await seen(body)).order.map(({ target }) => target)
const idOf = async (label: string) => {
  const { data } = await s.json<{ data: { id: number; label: string }[] }>('/api/providers')
  return data.find((one) => one.label === label)?.id as number
}

describe('the preview of a draft', () => {
  it('saves nothing, moves nothing, and continues the rotation of the model with its name', async () => {
    await start('abc')
    const body = { name: 'vm', strategy: 'load_balance', targets: targets('abc') }
    expect(await order(body)).toEqual(targets('abc'))
    expect((await s.json<{ data: unknown[] }>('/api/virtual-models')).data).toEqual([])
    await s.make(body)
    expect(await s.askTimes(1, 'vm')).toEqual(['a'])
    for (let i = 0; i < 3; i++) expect(await seen(body)).toMatchObject({ cursor: 1, order: [{ target: 'b/m' }, {}, {}] })
    // Other targets start the rotation again, as saving them would.
    expect(await order({ ...body, targets: targets('cb') })).toEqual(targets('cb'))
    expect(await s.askTimes(2, 'vm')).toEqual(['b', 'c'])
    const { data } = await s.json<{ data: { action: string }[] }>('/api/audit')
    expect(data.map(({ action }) => action)).toEqual(['vm.create'])
  })

  it('says when its name is also the id of a model, as saving it would', async () => {
    await start('ab')
    expect((await seen({ name: 'vm', strategy: 'failover', targets: targets('a') })).shadows_model).toBe(false)
    const named = { name: 'a/m', strategy: 'failover', targets: targets('b') }
    const { warning } = (await s.make(named)) as { warning?: { code: string } }
    expect((await seen(named)).shadows_model).toBe(warning?.code === 'shadows_model')
  })

  it('takes connections as up or down', async () => {
    await start('ab', { resilience: true, script: { b: [fail(401)] } })
    const body = { name: 'vm', strategy: 'failover', targets: targets('ba') }
    expect((await s.ask('b/m')).status).toBe(502)
    await s.t.untilSettled(1)
    expect(await seen(body)).toMatchObject({ order: [{ target: 'a/m' }], dropped: [{ target: 'b/m', reason: 'auth_failed' }] })
    const [a, b] = [await idOf('a'), await idOf('b')]
    expect(await order({ ...body, assume: [{ connection_id: b, state: 'up' }] })).toEqual(targets('ba'))
    expect(await seen({ ...body, assume: [{ connection_id: a, state: 'down' }] })).toMatchObject({
      order: [],
      dropped: [
        { target: 'b/m', reason: 'auth_failed' },
        { target: 'a/m', reason: 'assumed_down', connections: [{ id: a, reason: 'assumed_down' }] },
      ],
    })
    // An assumption does not enable what is disabled.
    const { id } = (await (await s.t.post('/api/providers', { provider: 'echo', enabled: false })).json()) as { id: number }
    const off = { ...body, targets: ['echo/echo-1', 'a/m'], assume: [{ connection_id: id, state: 'up' }] }
    expect(await seen(off)).toMatchObject({ order: [{ target: 'a/m' }], dropped: [{ reason: 'disabled' }] })
  })

  it('says whether a key may call it', async () => {
    await start('a')
    const { id } = await makeKey(s.t, { allowed_models: ['team-*'], label: 'ci' })
    const body = { strategy: 'failover', targets: targets('a'), as_key: id }
    expect((await seen({ ...body, name: 'team-fast' })).key).toEqual({ id, label: 'ci', allowed: true, expired: false })
    expect((await seen({ ...body, name: 'other' })).key).toMatchObject({ allowed: false })
    expect(await seen({ ...body, name: 'other', as_key: undefined })).not.toHaveProperty('key')
  })

  it('refuses what saving would refuse, and ids that are not there', async () => {
    await start('a')
    const body = { name: 'vm', strategy: 'failover', targets: targets('a') }
    const refused = async (more: object) => {
      const { status, param } = await refusalOf(await ask({ ...body, ...more }))
      return [status, param]
    }
    expect(await refused({ as_key: 999 })).toEqual([404, 'as_key'])
    const id = await idOf('a')
    const up = { connection_id: id, state: 'up' }
    expect(await refused({ assume: [up, { connection_id: 999, state: 'down' }] })).toEqual([404, 'assume.1.connection_id'])
    expect(await refused({ assume: [up, up] })).toEqual([400, 'assume.1.connection_id'])
    expect(await refused({ assume: [{ ...up, state: 'odd' }] })).toEqual([400, 'assume.0.state'])
    expect(await refused({ targets: ['nowhere/m'] })).toEqual([400, 'targets.0'])
    expect(await refused({ targets: [{ target: 'a/m', connection_id: 999 }] })).toEqual([400, 'targets.0.connection_id'])
    expect(await refused({ strategy: 'fusion' })).toEqual([400, 'targets'])
    expect(await refused({ name: '' })).toEqual([400, 'name'])
    expect(await refused({ request: { features: ['taste'] } })).toEqual([400, 'request.features.0'])
    expect(await refused({ request: { input_tokens: -1 } })).toEqual([400, 'request.input_tokens'])
  })
})
