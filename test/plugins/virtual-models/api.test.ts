// /api/virtual-models: what may be said, what stands afterwards, and what is refused by name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Made, refusalOf, type Site, site } from './support.ts'

let s: Site
beforeAll(async () => {
  s = await site(['a', 'b'], { connections: { echo: { provider: 'echo' } } })
})
afterAll(() => s.close())

const base = { strategy: 'failover', targets: ['a/m'] }
const put = (id: number, body: object) =>
  s.t.fetch(`/api/virtual-models/${id}`, {
    method: 'PUT',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

describe('create, read, change, delete', () => {
  it('shows the full form of whatever was sent, with every default', async () => {
    const made = await s.make({
      name: 'coder',
      strategy: 'weighted',
      targets: [
        'a/m',
        { target: 'a/n', weight: 2.5 },
        { model: 'b/m', enabled: false },
        { provider: 'b', model: 'x/y', instruction: 'short', params: { top_p: 0.5 } },
      ],
    })
    const plain = { weight: 1, connection_id: null, enabled: true, instruction: null, params: null }
    expect(made).toEqual({
      id: expect.any(Number),
      org_id: null,
      name: 'coder',
      strategy: 'weighted',
      modality: 'text',
      enabled: true,
      position: 0,
      targets: [
        { ...plain, target: 'a/m', provider: 'a', model: 'm' },
        { ...plain, target: 'a/n', provider: 'a', model: 'n', weight: 2.5 },
        { ...plain, target: 'b/m', provider: 'b', model: 'm', enabled: false },
        { ...plain, target: 'b/x/y', provider: 'b', model: 'x/y', instruction: 'short', params: { top_p: 0.5 } },
      ],
      config: {
        session_sticky: true,
        sticky_ttl_secs: 900,
        max_attempts: 0,
        judge: null,
        min_panel: 2,
        straggler_grace_ms: 8000,
        panel_timeout_ms: 90_000,
        latency_buffer: 0,
        token_saver: true,
      },
      description: '',
      managed_by: 'api',
      config_key: null,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: expect.any(String),
    })
    expect(await s.json(`/api/virtual-models/${made.id}`)).toEqual(made)
  })

  it('PUT keeps what is left out, members of config too', async () => {
    const made = await s.make({ ...base, name: 'kept', description: 'd', config: { judge: 'b/m', min_panel: 3 } })
    const changed = (await (await put(made.id, { strategy: 'load_balance', config: { min_panel: 4 } })).json()) as Made
    expect(changed).toMatchObject({ name: 'kept', strategy: 'load_balance', description: 'd', targets: made.targets })
    expect(changed.config).toMatchObject({ judge: 'b/m', min_panel: 4 })
    expect(((await (await put(made.id, { config: { judge: null } })).json()) as Made).config).toMatchObject({ judge: null })
  })

  it('toggles, and deletes for good: the name is free again', async () => {
    const { id } = await s.make({ ...base, name: 'gone' })
    const toggle = () => s.json<Made>(`/api/virtual-models/${id}/toggle`, { method: 'POST' })
    expect([(await toggle()).enabled, (await toggle()).enabled]).toEqual([false, true])
    expect(await s.json(`/api/virtual-models/${id}`, { method: 'DELETE' })).toEqual({ deleted: true })
    for (const method of ['GET', 'DELETE']) expect((await s.t.fetch(`/api/virtual-models/${id}`, { method })).status).toBe(404)
    expect((await put(id, {})).status).toBe(404)
    expect((await s.make({ ...base, name: 'gone' })).id).not.toBe(id)
  })

  it('reorders: those named first, the others behind them in their order', async () => {
    const list = async () => (await s.json<{ data: Made[] }>('/api/virtual-models')).data
    const before = await list()
    const ids = before.map(({ id }) => id)
    const first = [ids.at(-1), ids[1]] as number[]
    expect((await s.t.post('/api/virtual-models/reorder', { ids: first })).status).toBe(200)
    const after = await list()
    expect(after.map(({ id }) => id)).toEqual([...first, ...ids.filter((id) => !first.includes(id))])
    expect(after.map(({ position }) => position)).toEqual(after.map((_one, index) => index))
    expect((await s.make({ ...base, name: 'last' })).position).toBe(after.length)
    for (const wrong of [
      [first[0], 999],
      [first[0], first[0]],
    ]) {
      const refused = await refusalOf(await s.t.post('/api/virtual-models/reorder', { ids: wrong }))
      expect(refused).toMatchObject({ status: 400, param: 'ids.1' })
    }
    expect((await list()).slice(0, 2).map(({ id }) => id)).toEqual(first)
  })

  it('warns of a name that is a model’s, and takes it', async () => {
    for (const name of ['echo/echo-1', 'echo-1'])
      expect((await s.make({ ...base, name })).warning).toEqual({ code: 'shadows_model', model: name })
    expect((await s.make({ ...base, name: 'nobodys' })).warning).toBeUndefined()
  })
})

describe('refusals', () => {
  const wrong: [string, object, string][] = [
    ['an unknown strategy', { strategy: 'best' }, 'strategy'],
    ['no targets', { targets: [] }, 'targets'],
    ['65 targets', { targets: Array.from({ length: 65 }, (_one, index) => `a/m${index}`) }, 'targets'],
    ['a bare target', { targets: ['a/m', 'coder'] }, 'targets.1'],
    ['an empty target', { targets: [{}] }, 'targets.0'],
    ['an unknown provider', { targets: ['nobody/m'] }, 'targets.0'],
    ['a provider without a model', { targets: [{ provider: 'a' }] }, 'targets.0'],
    ['a target that says two things', { targets: [{ target: 'a/m', provider: 'a', model: 'other' }] }, 'targets.0'],
    ['a negative weight', { targets: [{ target: 'a/m', weight: -1 }] }, 'targets.0.weight'],
    ['a member nobody knows', { targets: [{ target: 'a/m', wait: 1 }] }, 'targets.0.wait'],
    ['the same target twice', { targets: ['a/m', { provider: 'a', model: 'm' }] }, 'targets.1'],
    ['a connection that is not there', { targets: [{ target: 'a/m', connection_id: 999 }] }, 'targets.0.connection_id'],
    ['a lone pipeline', { strategy: 'pipeline' }, 'targets'],
    ['a fusion of one without a judge', { strategy: 'fusion' }, 'targets'],
    ['images by several calls', { strategy: 'fusion', targets: ['a/m', 'b/m'], modality: 'image' }, 'strategy'],
    ['another modality', { modality: 'video' }, 'modality'],
    ['a judge that is no concrete id', { config: { judge: 'coder' } }, 'config.judge'],
    ['a judge of an unknown provider', { config: { judge: 'nobody/m' } }, 'config.judge'],
    ['a switch that is no boolean', { config: { token_saver: 'off' } }, 'config.token_saver'],
    ['a buffer beyond one', { config: { latency_buffer: 1.5 } }, 'config.latency_buffer'],
  ]
  it.each(wrong)('400 for %s, on create and on update', async (_what, body, param) => {
    const { id } = await s.make({ ...base, name: `standing-${param}-${wrong.findIndex(([, one]) => one === body)}` })
    for (const response of [
      await s.t.post('/api/virtual-models', { ...base, name: 'wrong', ...body }),
      await put(id, { ...base, ...body }),
    ])
      expect(await refusalOf(response)).toMatchObject({ status: 400, type: 'invalid_request_error', param })
  })

  it('says so when a target names a connection of another provider, and knows the other names of one', async () => {
    const own = { base_url: s.up.a?.baseUrl('chat'), wire_format: 'chat', api_key: 'sk-1' }
    const made = async (provider: string) =>
      ((await (await s.t.post('/api/providers', { ...own, provider })).json()) as { id: number }).id
    const [google, acme] = [await made('google'), await made('acme')]
    const targets = (target: string, connection_id: number) => ({ ...base, targets: [{ target, connection_id }] })
    const wrong = await s.t.post('/api/virtual-models', { ...targets('google/m', acme), name: 'wrong' })
    expect(await refusalOf(wrong)).toMatchObject({ status: 400, param: 'targets.0.connection_id' })
    await s.make({ ...targets('gemini/m', google), name: 'by-alias' })
  })

  it('says so when a target names a connection instead of its provider, here and in the file', async () => {
    const connections = { spare: { provider: 'echo' } }
    const said = '`spare` is what a connection is called. Targets begin with its provider: `echo/<model>`.'
    const other = await site(['a'], { connections })
    const response = await other.t.post('/api/virtual-models', { ...base, name: 'wrong', targets: ['spare/echo-1'] })
    expect(((await response.json()) as { error: object }).error).toMatchObject({ message: said, param: 'targets.0' })
    await other.close()
    const virtualModels = { vm: { strategy: 'failover', targets: ['spare/echo-1'] } }
    await expect(site(['a'], { connections, config: { virtualModels } })).rejects.toThrow(`virtualModels.vm.targets.0: ${said}`)
  })

  it.each(['', '/x', 'x/', 'a b', 'ä', 'x'.repeat(129)])('400 for the name %j', async (name) => {
    expect(await refusalOf(await s.t.post('/api/virtual-models', { ...base, name }))).toMatchObject({
      status: 400,
      param: 'name',
    })
  })

  it('409 for a name that is taken, case by case; not its own', async () => {
    const { id } = await s.make({ ...base, name: 'Taken' })
    const other = await s.make({ ...base, name: 'taken' })
    for (const response of [
      await s.t.post('/api/virtual-models', { ...base, name: 'Taken' }),
      await put(other.id, { name: 'Taken' }),
    ])
      expect(await refusalOf(response)).toMatchObject({ status: 409, code: 'already_exists' })
    expect((await put(id, { name: 'Taken' })).status).toBe(200)
    const both = await Promise.all([1, 2].map(() => s.t.post('/api/virtual-models', { ...base, name: 'raced' })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('409 for what the file owns; only it may make some when it says so', async () => {
    const config = { virtualModels: { own: { strategy: 'failover', targets: ['a/m'] } }, exclusive: ['virtualModels'] }
    const file = await site(['a'], { config })
    const [own] = (await file.json<{ data: Made[] }>('/api/virtual-models')).data
    expect(own).toMatchObject({ name: 'own', managed_by: 'config' })
    const path = `/api/virtual-models/${own?.id}`
    const headers = { 'content-type': 'application/json' }
    const refused = [
      await file.t.fetch(path, { method: 'PUT', body: '{}', headers }),
      await file.t.fetch(path, { method: 'DELETE' }),
      await file.t.post(`${path}/toggle`, {}),
      await file.t.post('/api/virtual-models/reorder', { ids: [own?.id] }),
      await file.t.post('/api/virtual-models', { ...base, name: 'other' }),
    ]
    for (const response of refused) expect(await refusalOf(response)).toMatchObject({ status: 409, code: 'managed_by_config' })
    await file.close()
  })
})
