// Every operation at every vendor format, with every way an upstream fails: the same answers, one settlement, the next connection where
// that helps. Silence is measured in test/conformance/operations, where no test waits for a clock.
import { afterEach, describe, expect, it } from 'vitest'
import { operations } from '../../adapters/operations/index.ts'
import { OPERATIONS } from '../../adapters/providers/operations.ts'
import { operationReply } from '../../adapters/testing/operations/vendor.ts'
import type { Step } from '../../adapters/testing/script.ts'
import { OPERATION_BODIES, OPERATION_FORMS } from '../support/operation-bodies.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

/** Vendors whose models choose the path. */
const MODELS: Readonly<Record<string, string>> = { bfl: 'flux-1', google: 'imagen-4' }

/** The route of a plugin: its operation has none of its own. */
const FETCH = '/v1/web/fetch'

/** One provider for each codec of each operation. */
const CASES = operations.flatMap(({ id, codecs, routes, connections }) =>
  Object.keys(codecs).flatMap((codec) => {
    const [provider, served] = Object.entries(OPERATIONS).find(([, each]) => each[id]?.codec === codec) ?? []
    const model = served?.[id]?.models?.[0]?.replaceAll('*', 'x') ?? served?.[id]?.defaultModel ?? MODELS[codec] ?? 'm'
    return provider === undefined ? [] : [{ id, codec, provider, model, path: routes[0]?.path ?? FETCH, connections }]
  }),
)

function posted({ t }: Vendors, path: string, model: string): Promise<Response> {
  if (path === FETCH) return t.post(path, { url: 'https://93.184.216.34/', provider: model.split('/')[0] })
  const body = OPERATION_BODIES[path]
  if (body !== undefined) return t.post(path, body(model))
  return t.fetch(path, { method: 'POST', body: OPERATION_FORMS[path]?.(model) as FormData })
}

const ANSWER: Step = { kind: 'choose', choose: operationReply }
const FAULTS: readonly { what: string; step: Step; status: number; next: boolean }[] = [
  { what: '400', step: { kind: 'fail', status: 400, message: 'bad input' }, status: 400, next: false },
  { what: '401', step: { kind: 'fail', status: 401, message: 'bad key' }, status: 502, next: true },
  { what: '429', step: { kind: 'fail', status: 429, message: 'slow down' }, status: 429, next: true },
  { what: '500', step: { kind: 'fail', status: 500, message: 'down' }, status: 500, next: true },
  { what: 'a reset', step: { kind: 'reset' }, status: 502, next: true },
  {
    what: 'a cut',
    step: { kind: 'raw', status: 200, body: '{"data":[', cut: { after: 5, how: 'reset' }, splitBytes: 1 },
    status: 502,
    next: true,
  },
  { what: 'broken JSON', step: { kind: 'raw', status: 200, body: '{"data":[' }, status: 502, next: true },
  { what: 'an empty answer', step: { kind: 'raw', status: 200, body: '' }, status: 502, next: true },
  {
    what: 'an error with status 200',
    step: { kind: 'raw', status: 200, body: '{"error":{"message":"no"}}' },
    status: 502,
    next: true,
  },
]

describe.each(CASES)('$id at $codec ($provider)', ({ provider, path, model, connections }) => {
  const send = () => posted(v, path, `${provider}/${model}`)

  it('answers', async () => {
    v = await vendors([provider])
    const response = await send()
    expect(response.status, await response.clone().text()).toBe(200)
    expect(response.headers.get('x-gateway-provider')).toBe(provider)
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome).toMatchObject({ status: 200, steps: [{ provider, model }] })
  })

  it.each(FAULTS)('$what', async ({ step, status }) => {
    v = await vendors([provider], { upstream: [step] })
    const response = await send()
    const text = await response.text()
    expect(response.status, text).toBe(status)
    expect(JSON.parse(text).error).toMatchObject({ message: expect.any(String), type: expect.any(String) })
    expect(text).not.toContain(`sk-${provider}`)
    await v.t.untilSettled(1)
    expect(v.t.settled).toHaveLength(1)
    expect(v.t.settled[0]?.outcome.steps).toEqual([])
  })

  it.each(FAULTS)('$what, with a second connection', async ({ step, next }) => {
    const second = { provider, apiKey: `sk-${provider}`, priority: 9 }
    v = await vendors([provider], { upstream: [step, ANSWER, ANSWER] })
    const [{ connection }] = (await own(v)) as [{ connection: { baseUrl: string } }]
    await v.t.gateway.reload({
      connections: {
        [provider]: { ...second, baseUrl: connection.baseUrl, priority: 1 },
        second: { ...second, baseUrl: connection.baseUrl },
      },
    })
    const response = await send()
    const moves = next && connections === 'all'
    expect(response.ok, await response.text()).toBe(moves)
  })
})

async function own({ t }: Vendors) {
  const accounts = (await (await t.fetch('/api/providers')).json()) as { data: { base_url: string }[] }
  return accounts.data.map(({ base_url }) => ({ connection: { baseUrl: base_url } }))
}
