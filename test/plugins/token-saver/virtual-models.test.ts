// Opt-out: a virtual model may keep the token saver from the requests through it.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { CAVEMAN } from '../../../plugins/token-saver/texts.ts'
import { OUTPUTS } from './outputs.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const LONG = OUTPUTS['a log']!.text
const TARGETS = ['chat/m', 'messages/m']

/** Styles and filters are on; `plain` is without, `short` and the rest with them. */
async function gateway(upstream = [text('ok')], env: Record<string, string> = {}): Promise<TestGateway> {
  const virtualModels = {
    plain: { strategy: 'failover', targets: TARGETS, config: { tokenSaver: false } },
    short: { strategy: 'failover', targets: TARGETS },
  } as const
  const settings = { token_saver: { filters_enabled: true } }
  const t = await createTestGateway({
    upstream,
    env: { CAVEMAN_LEVEL: 'full', ...env },
    config: { virtualModels, settings } as never,
  })
  open.push(t)
  return t
}

async function sent(t: TestGateway, model: string, headers: Record<string, string> = {}) {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'sh', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: LONG },
  ]
  const response = await t.post('/v1/chat/completions', { model, messages }, headers)
  expect(response.status, await response.clone().text()).toBe(200)
  const upstream = t.upstream.requests.at(-1)!.text
  const inJson = (value: string) => JSON.stringify(value).slice(1, -1)
  return {
    styled: upstream.includes(inJson(CAVEMAN.full)),
    filtered: !upstream.includes(inJson(LONG)),
    cache: response.headers.get('x-gateway-cache'),
  }
}

it('neither styles nor filters, at every target, and also where a header asks for a style', async () => {
  const t = await gateway([fail(503), text('ok')])
  expect(await sent(t, 'plain')).toMatchObject({ styled: false, filtered: false })
  expect(t.upstream.requests).toHaveLength(2)
  for (const request of t.upstream.requests) expect(request.text).not.toContain(' style: ')
  expect(await sent(t, 'plain', { 'x-gateway-caveman': 'full' })).toMatchObject({ styled: false, filtered: false })
})

it('others, and its targets asked for directly, are served as set', async () => {
  const t = await gateway()
  for (const model of ['short', 'chat/m', 'messages/m'])
    expect(await sent(t, model), model).toMatchObject({ styled: true, filtered: true })
})

it('a change through the API holds from the next request on, with a cached answer of the other kind left alone', async () => {
  const t = await gateway([text('ok')], { DEDUP_TTL_MS: '60000' })
  const made = await t.post('/api/virtual-models', { name: 'mine', strategy: 'failover', targets: TARGETS })
  const { id } = (await made.json()) as { id: number }
  const put = async (token_saver: boolean) => {
    const body = JSON.stringify({ config: { token_saver } })
    const headers = { 'content-type': 'application/json' }
    const response = await t.fetch(`/api/virtual-models/${id}`, { method: 'PUT', body, headers })
    expect(await response.json()).toMatchObject({ config: { token_saver } })
  }
  expect(await sent(t, 'mine')).toEqual({ styled: true, filtered: true, cache: 'miss' })
  await put(false)
  expect(await sent(t, 'mine')).toEqual({ styled: false, filtered: false, cache: 'miss' })
  await put(true)
  expect(await sent(t, 'mine')).toMatchObject({ cache: 'hit' })
})
