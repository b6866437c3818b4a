// GET /api/attention counts the requests that moved away from an account in trouble, and those that failed.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { type AccountOptions, type World, type WorldOptions, world } from '../resilience/support.ts'

let w: World
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await w.close()
  for (const close of closing.splice(0)) await close()
})

interface Listed {
  readonly kind: string
  readonly subject: { readonly label: string }
  readonly effect: string | null
}

/** Effects by `kind label`. The list is at most five seconds old. */
async function effects(): Promise<Record<string, string | null>> {
  await w.clock.advance('5s')
  const { data } = (await (await w.t.fetch('/api/attention')).json()) as { data: Listed[] }
  return Object.fromEntries(data.map(({ kind, subject, effect }) => [`${kind} ${subject.label}`, effect]))
}

const down = (times: number): Step[] => Array.from({ length: times }, () => fail(503))
const settings = { breaker: { failure_threshold: 3, cooldown_secs: 600, max_cooldown_secs: 600 } }

async function made(accounts: AccountOptions[], config: WorldOptions['config'] = {}): Promise<void> {
  w = await world({ accounts, config: { settings, ...config } })
}

async function times(count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push(await w.status())
  return statuses
}

describe('requests of an account whose circuit is open', () => {
  it('are counted where they went: those that failed on it, and those that passed it over', async () => {
    await made([{ script: down(3) }, { script: [text('ok')] }])
    expect(await times(3)).toEqual([200, 200, 200])
    expect((await effects())['circuit_open p/p.1']).toBe('3 requests moved to p/p.2; none failed.')
    await times(4)
    expect((await effects())['circuit_open p/p.1']).toBe('7 requests moved to p/p.2; none failed.')
  })

  it('count as failed when no other account answered', async () => {
    await made([{ script: down(3) }])
    for (const status of await times(3)) expect(status).toBeGreaterThanOrEqual(500)
    expect((await effects())['circuit_open p/p.1']).toBe('3 requests failed, and none moved to another connection.')
  })

  it('are not counted for an account that stands behind the one that answers', async () => {
    await made([{ script: [text('ok')] }, { script: down(3) }])
    for (let i = 0; i < 3; i++) await w.t.post('/api/providers/2/test', { model: 'm' })
    const idle = 'Requests go to 1 other connection of p.'
    expect((await effects())['circuit_open p/p.2']).toBe(idle)
    expect(await times(3)).toEqual([200, 200, 200])
    expect((await effects())['circuit_open p/p.2']).toBe(idle)
  })

  it('begin at zero after the account has answered again', async () => {
    await made([{ script: [...down(3), text('ok'), ...down(3)] }, { script: [text('ok')] }])
    await times(3)
    await w.clock.advance('601s')
    expect(await times(1)).toEqual([200])
    expect(await effects()).toEqual({})
    await times(3)
    expect((await effects())['circuit_open p/p.1']).toBe('3 requests moved to p/p.2; none failed.')
  })
})

it('a virtual model: the other target is named, and the outage of the provider counts too', async () => {
  const other = await scriptedUpstream(text('ok'))
  closing.push(() => other.close())
  await made([{ script: down(5) }], {
    settings: { breaker: { failure_threshold: 5, cooldown_secs: 600, max_cooldown_secs: 600 } },
  })
  await w.reload({
    azure: { provider: 'azure-like', baseUrl: other.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk-a', label: 'main' },
  })
  const model = { name: 'coder', strategy: 'failover', targets: ['p/m', 'azure-like/m'] }
  expect((await w.t.post('/api/virtual-models', model)).status).toBe(201)
  for (let i = 0; i < 5; i++) {
    const response = await w.t.post('/v1/chat/completions', { model: 'coder', messages: [{ role: 'user', content: 'hi' }] })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  const moved = '5 requests moved to azure-like/main; none failed.'
  expect(await effects()).toEqual({ 'circuit_open p/p.1': moved, 'provider_outage p': moved })
})
