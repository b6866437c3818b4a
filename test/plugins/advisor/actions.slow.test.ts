// Apply, confirm and roll back, by hand and by the watch.
import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { DAY, type Recommendation, times, virtualModel, type World, world } from './support.ts'

let w: World
afterEach(() => w.t.close())

/** A header selects the organization of a caller of the control plane. */
const organizations = definePlugin({
  name: 'test-callers',
  setup(gateway) {
    gateway.provide('operators', {
      async identify(request) {
        const org = request.headers.get('x-org')
        return {
          actor: 'test',
          orgId: org === null ? null : Number(org),
          role: org === null ? 'system' : 'owner',
          readOnly: false,
          auth: 'open',
        }
      },
    })
  },
})

interface Action {
  id: number
  state: string
  rollback_reason: string | null
  probation_active: boolean
  baseline: { requests: number }
  before: Record<string, unknown>
  after: Record<string, unknown>
}

const apply = (rec: Recommendation | undefined, more: object = {}) =>
  w.api<Action>('POST', '/api/advisor/apply', { recommendation_id: rec?.id, ...more })
const rollback = (id: number) => w.api<Action>('POST', `/api/advisor/rollback/${id}`, {})
const confirm = (id: number) => w.api<Action>('POST', `/api/advisor/confirm/${id}`, {})
const only = async () => (await w.api<{ data: Action[] }>('GET', '/api/advisor/applied')).body.data[0] as Action
const tick = () => w.clock.advance('70s')

async function record(id: number): Promise<string> {
  const { body } = await w.api('GET', `/api/virtual-models/${id}`)
  const { updated_at, ...rest } = body
  return JSON.stringify(rest)
}

/** A virtual model with easy work on its expensive target. */
async function dear(): Promise<{ id: number; rec: Recommendation }> {
  const id = await virtualModel(w, 'coder', ['chat/dear', { target: 'messages/cheap', params: { temperature: 0 } }])
  await times(60, () => w.ask({ model: 'coder' }))
  const [rec] = await w.advice()
  return { id, rec: rec as Recommendation }
}

describe('a recommendation for a virtual model', () => {
  it('is applied: the next request goes to the other target, and the recommendation is gone', async () => {
    w = await world()
    const { id, rec } = await dear()
    const { status, body } = await apply(rec, { probation_hours: 48 })
    expect(status).toBe(201)
    expect(body).toMatchObject({ state: 'applied', rollback_reason: null, probation_active: true, baseline: { requests: 60 } })
    expect(JSON.parse(await record(id)).targets.map((one: { target: string }) => one.target)).toEqual([
      'messages/cheap',
      'chat/dear',
    ])
    await w.ask({ model: 'coder' })
    expect(w.t.settled.at(-1)?.ctx.attempts.at(-1)?.candidate.target.model).toBe('cheap')
    expect(await w.advice()).toEqual([])
    const { body: audit } = await w.api<{ data: { action: string; target: string }[] }>('GET', '/api/audit')
    expect(audit.data[0]).toMatchObject({ action: 'advisor.apply', target: String(body.id) })
  })

  it('is rolled back to the byte, once', async () => {
    w = await world()
    const { id, rec } = await dear()
    const before = await record(id)
    const { body } = await apply(rec)
    expect((await rollback(body.id)).body).toMatchObject({
      state: 'rolled_back',
      rollback_reason: 'manual',
      probation_active: false,
    })
    expect(await record(id)).toBe(before)
    for (const { status } of [await rollback(body.id), await confirm(body.id)]) expect(status).toBe(409)
  })

  it('is listed with the figures since the change, until it is over', async () => {
    w = await world()
    const { rec } = await dear()
    const { body } = await apply(rec)
    const since = async () => ((await only()) as Action & { since: { requests: number; error_rate: number } | null }).since
    expect(await since()).toMatchObject({ requests: 0 })
    await times(3, () => w.ask({ model: 'coder' }))
    await w.t.untilCommitted(0)
    expect(await since()).toMatchObject({ requests: 3, error_rate: 0 })
    w.failing.set('messages/cheap', 1)
    w.failing.set('chat/dear', 1)
    await times(4, () => w.ask({ model: 'coder' }))
    await w.t.untilCommitted(0)
    expect(await since()).toMatchObject({ requests: 7, error_rate: 4 / 7 })
    await confirm(body.id)
    expect(await since()).toBeNull()
  })

  it('is not rolled back over a change by hand', async () => {
    w = await world()
    const { id, rec } = await dear()
    const { body } = await apply(rec)
    await w.api('PUT', `/api/virtual-models/${id}`, { targets: ['messages/cheap'] })
    const byHand = await record(id)
    expect(await rollback(body.id)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(await record(id)).toBe(byHand)
    expect((await only()).state).toBe('applied')
  })

  it('is confirmed: the watch ends', async () => {
    w = await world()
    const { rec } = await dear()
    const { body } = await apply(rec)
    expect((await confirm(body.id)).body).toMatchObject({ state: 'confirmed', probation_active: false })
    w.failing.set('messages/cheap', 1)
    w.failing.set('chat/dear', 1)
    await times(25, () => w.ask({ model: 'coder' }))
    await tick()
    expect((await only()).state).toBe('confirmed')
  })

  it('stays without a confirmation, and is watched for 14 days', async () => {
    w = await world()
    const { rec } = await dear()
    await apply(rec)
    w.jump(2 * DAY)
    await tick()
    expect(await only()).toMatchObject({ state: 'applied', probation_active: false })
    w.jump(13 * DAY)
    w.failing.set('messages/cheap', 1)
    w.failing.set('chat/dear', 1)
    await times(25, () => w.ask({ model: 'coder' }))
    await tick()
    expect((await only()).state).toBe('applied')
  })

  it.each(['error_rate', 'latency'])('is taken back within one tick when the %s rises', async (reason) => {
    w = await world()
    const { id, rec } = await dear()
    const before = await record(id)
    const { body } = await apply(rec)
    if (reason === 'error_rate') {
      w.failing.set('messages/cheap', 1)
      w.failing.set('chat/dear', 1)
    } else w.slowMs = 700
    await times(21, async () => {
      await w.ask({ model: 'coder' })
    })
    // Requests that found every account cooling down are counted once a minute.
    await w.clock.advance('2m')
    expect(await only()).toMatchObject({ id: body.id, state: 'rolled_back', rollback_reason: reason })
    expect(await record(id)).toBe(before)
    const { body: audit } = await w.api<{ data: object[] }>('GET', '/api/audit?action=advisor.rollback')
    expect(audit.data[0]).toMatchObject({ actor: 'advisor', target: String(body.id), details: { reason } })
    const taken = async () =>
      (await w.api<{ data: { kind: string }[] }>('GET', '/api/attention')).body.data.filter(
        ({ kind }) => kind === 'advice_taken_back',
      )
    expect(await taken()).toMatchObject([
      {
        severity: 'warning',
        subject: { kind: 'advisor_action', id: String(body.id), label: 'coder' },
        effect: reason === 'latency' ? 'Requests took longer than before.' : 'More requests failed than before.',
        link: `/spend?tab=advisor&action=${body.id}`,
      },
    ])
    await w.clock.advance('25h')
    expect(await taken()).toEqual([])
  })

  it('is taken back when requests cost more', async () => {
    w = await world()
    const { rec } = await dear()
    await apply(rec)
    w.usage = { input: 100_000, output: 20 }
    await times(21, () => w.ask({ model: 'coder' }))
    await tick()
    expect(await only()).toMatchObject({ state: 'rolled_back', rollback_reason: 'cost' })
  })

  it('stays while fewer than 20 requests show a regression', async () => {
    w = await world()
    const { rec } = await dear()
    await apply(rec)
    w.failing.set('messages/cheap', 1)
    w.failing.set('chat/dear', 1)
    await times(19, () => w.ask({ model: 'coder' }))
    await tick()
    expect((await only()).state).toBe('applied')
  })

  it('belongs to its organization: for another one the action and the recommendation do not exist', async () => {
    w = await world({ config: { plugins: [organizations(), ...preset()] } })
    const { id, rec } = await dear()
    const { body } = await apply(rec)
    const after = await record(id)
    const other = async (method: string, path: string, given?: object) => {
      const headers = { 'x-org': '7', 'content-type': 'application/json' }
      const response = await w.t.fetch(`/api/advisor${path}`, { method, headers, ...(given && { body: JSON.stringify(given) }) })
      return { status: response.status, body: (await response.json()) as { data?: unknown[] } }
    }
    expect((await other('GET', '')).body.data).toEqual([])
    expect((await other('GET', '/applied')).body.data).toEqual([])
    expect((await other('POST', '/apply', { id: rec.id })).status).toBe(404)
    for (const verb of ['confirm', 'rollback']) expect((await other('POST', `/${verb}/${body.id}`, {})).status).toBe(404)
    expect(await record(id)).toBe(after)
  })

  it('of an entity with an open action is refused', async () => {
    w = await world()
    const { rec } = await dear()
    await apply(rec)
    w.failing.set('messages/cheap', 0.5)
    w.jump(16 * 60_000)
    await times(40, () => w.ask({ model: 'coder' }))
    const [next] = (await w.advice()).filter(({ kind }) => kind === 'demote_target')
    expect(next).toBeDefined()
    // The watch would take the first action back before.
    expect(await apply(next)).toMatchObject({ status: 409 })
  })

  it('that the file owns has the change for the file', async () => {
    w = await world({
      config: {
        virtualModels: { coder: { strategy: 'failover', targets: ['chat/dear', { target: 'messages/cheap', weight: 2 }] } },
      },
    })
    await times(60, () => w.ask({ model: 'coder' }))
    const [rec] = await w.advice()
    expect(rec).toMatchObject({
      kind: 'switch_model',
      apply_action: null,
      apply_hint:
        'In gateway.config.ts: virtualModels: { "coder": { targets: [{"target":"messages/cheap","weight":2}, "chat/dear"] } }',
    })
    const { status, body } = await w.api<{ error: { message: string } }>('POST', '/api/advisor/apply', { id: rec?.id })
    expect(status).toBe(400)
    expect(body.error.message).toContain('In gateway.config.ts: virtualModels')
  })
})

describe('a recommendation for a setting', () => {
  it('is applied and rolled back to what file and environment say', async () => {
    w = await world()
    await times(60, (index) => w.ask({ model: 'chat/cheap', ...(index % 6 === 5 && { text: 'The same?' }) }))
    const [rec] = await w.advice()
    const { status, body } = await apply(rec)
    expect(status).toBe(201)
    const setting = async () => {
      const { body } = await w.api<Record<string, { source: string }>>('GET', '/api/settings/sources')
      return body['exact_cache.ttl_ms']?.source
    }
    expect(await setting()).toBe('runtime')
    await times(2, () => w.ask({ model: 'chat/cheap', text: 'Again?' }))
    expect(w.t.settled.at(-1)?.outcome.cached).toBe('exact')
    await rollback(body.id)
    expect(await setting()).toBe('default')
  })
})

describe('refusals', () => {
  it('name what to do', async () => {
    w = await world()
    expect(await w.api('POST', '/api/advisor/apply', { recommendation_id: 'rec_unknown' })).toMatchObject({ status: 404 })
    expect(await w.api('POST', '/api/advisor/apply', {})).toMatchObject({
      status: 400,
      body: { error: { param: 'recommendation_id' } },
    })
    expect(await w.api('POST', '/api/advisor/apply', { id: 'rec_x', probation_hours: 0 })).toMatchObject({
      status: 400,
      body: { error: { param: 'probation_hours' } },
    })
    for (const path of ['confirm/7', 'rollback/7']) expect((await w.api('POST', `/api/advisor/${path}`, {})).status).toBe(404)
    await w.api('POST', '/api/keys', { label: 'idle' })
    w.jump(31 * DAY)
    const [rec] = await w.advice()
    expect(await apply(rec)).toMatchObject({ status: 400, body: { error: { param: 'recommendation_id' } } })
  })
})
