// /v1/batches: requests that run later, as the key that submitted them.
import { afterEach, describe, expect, it } from 'vitest'
import { choose, type RecordedRequest, raw, type Step } from '../../adapters/testing/index.ts'
import { isOperation, operationReply } from '../../adapters/testing/operations/vendor.ts'
import { sql } from '../../core/db/sql.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

interface Batch {
  id: string
  status: string
  request_counts: { total: number; completed: number; failed: number }
  results: { custom_id: string; response: { status_code: number; body: Record<string, unknown> } | null; error: object | null }[]
}

const chat = (at: number, model = 'openai/m') => ({
  custom_id: `item-${at}`,
  url: '/v1/chat/completions',
  body: { model, messages: [{ role: 'user', content: `say ${at}` }] },
})

async function create(body: object, key?: string): Promise<{ status: number; json: Batch & { error: object } }> {
  const response = await v.t.post('/v1/batches', body, key === undefined ? {} : bearer(key))
  return { status: response.status, json: (await response.json()) as Batch & { error: object } }
}

async function read(id: string, key?: string): Promise<Batch> {
  return (await (await v.t.fetch(`/v1/batches/${id}`, { headers: key === undefined ? {} : bearer(key) })).json()) as Batch
}

async function until(id: string, status: string, key?: string): Promise<Batch> {
  for (let tries = 0; tries < 400; tries++) {
    const batch = await read(id, key)
    if (batch.status === status) return batch
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`The batch did not become ${status}: ${JSON.stringify(await read(id, key))}`)
}

const said = ({ json }: RecordedRequest): string => (json.messages as { content: string }[])[0]?.content as string
const echo: Step = choose((request) => ({ kind: 'reply', reply: { text: `heard: ${said(request)}` } }))

describe('a batch', () => {
  it('of completions: at a vendor that has them, and over chat; a stream is refused', async () => {
    const both = choose((request) =>
      isOperation(request) ? operationReply(request) : { kind: 'reply', reply: { text: 'said' } },
    )
    v = await vendors(['openai'], { upstream: [both] })
    const prompt = (model: string) => ({ model, prompt: ['go on', 'and on'] })
    const { json } = await create({
      endpoint: '/v1/completions',
      requests: [
        { custom_id: 'own', body: prompt('openai/gpt-3.5-turbo-instruct') },
        { custom_id: 'chat', body: prompt('openai/gpt-4.1') },
        { custom_id: 'bad', body: { ...prompt('openai/gpt-4.1'), suffix: 'end' } },
      ],
    })
    const { results, request_counts } = await until(json.id, 'completed')
    expect(request_counts).toEqual({ total: 3, completed: 2, failed: 1 })
    const texts = (at: number) => (results[at]?.response?.body.choices as { text: string }[] | undefined)?.map(({ text }) => text)
    expect([texts(0), texts(1)]).toEqual([
      ['…on', '…on'],
      ['said', 'said'],
    ])
    expect(results[2]).toMatchObject({ custom_id: 'bad', response: { status_code: 400, body: { error: { param: 'suffix' } } } })
    const streamed = { custom_id: 's', url: '/v1/completions', body: { ...prompt('openai/gpt-4.1'), stream: true } }
    expect(await create({ requests: [streamed] })).toMatchObject({
      status: 400,
      json: { error: { param: 'requests.0.body.stream' } },
    })
  })

  it('of both item styles: every item one result, in the order of the items', async () => {
    v = await vendors(['openai', 'anthropic'], { upstream: [{ kind: 'reply', reply: { text: 'x' } }] })
    const { status, json } = await create({
      requests: [
        chat(0),
        { custom_id: 'a', params: { model: 'anthropic/m', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] } },
        { custom_id: 'e', url: '/v1/embeddings', body: { model: 'openai/e', input: 'hi' } },
        { custom_id: 'bad', url: '/v1/embeddings', body: { model: 'openai/e' } },
      ],
      metadata: { who: 'me' },
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: expect.stringMatching(/^batch_/),
      object: 'batch',
      status: 'in_progress',
      endpoint: '/v1/chat/completions',
      request_counts: { total: 4, completed: 0, failed: 0 },
      metadata: { who: 'me' },
    })
    const done = await until(json.id, 'completed')
    expect(done.results.map(({ custom_id, response }) => [custom_id, response?.status_code])).toEqual([
      ['item-0', 200],
      ['a', 200],
      ['e', 200],
      ['bad', 400],
    ])
    expect(done.results[0]?.response?.body).toMatchObject({ object: 'chat.completion' })
    expect(done.request_counts).toEqual({ total: 4, completed: 3, failed: 1 })
    const listed = (await (await v.t.fetch('/v1/batches?limit=1')).json()) as { data: Batch[] }
    expect(listed.data[0]).toMatchObject({ id: json.id, status: 'completed' })
    expect(listed.data[0]?.results).toBeUndefined()
  })

  it('a page begins behind a batch of the same key; ids that are none are errors of the caller', async () => {
    v = await vendors(['openai'], { upstream: [echo] })
    const [mine, other] = [(await makeKey(v.t)).key as string, (await makeKey(v.t)).key as string]
    const ids: string[] = []
    for (const key of [mine, mine, other]) ids.push((await create({ requests: [chat(0)] }, key)).json.id)
    const page = async (after: string) => {
      const response = await v.t.fetch(`/v1/batches?after=${after}`, { headers: bearer(mine) })
      return { status: response.status, json: (await response.json()) as { data: Batch[]; error?: { param: string } } }
    }
    const all = (await page('')).json.data.map(({ id }) => id)
    expect([...all].sort()).toEqual(ids.slice(0, 2).sort())
    expect((await page(all[0] as string)).json.data.map(({ id }) => id)).toEqual(all.slice(1))
    for (const after of [ids[2] as string, 'batch_gone', '%zz'])
      expect(await page(after)).toMatchObject({ status: 400, json: { error: { param: 'after' } } })
    for (const [method, path] of [
      ['GET', '%zz'],
      ['GET', '%ff'],
      ['POST', '%zz/cancel'],
    ] as const) {
      const response = await v.t.fetch(`/v1/batches/${path}`, { method, headers: bearer(mine) })
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'batch_not_found' } }])
    }
    await Promise.all(ids.map((id, at) => until(id, 'completed', at === 2 ? other : mine)))
  })

  it('is billed and logged like requests of its key, under the source `batch`', async () => {
    v = await vendors(['openai'], { upstream: [echo] })
    const { key, id } = (await makeKey(v.t)) as { key: string; id: number }
    const { json } = await create({ requests: Array.from({ length: 10 }, (_, at) => chat(at)) }, key)
    const { results } = await until(json.id, 'completed', key)
    expect(results.map(({ response }) => JSON.stringify(response?.body).match(/heard: say \d+/)?.[0])).toEqual(
      Array.from({ length: 10 }, (_, at) => `heard: say ${at}`),
    )
    await v.t.gateway.committed()
    const rows = await v.t.gateway.db?.all<{ key_id: number; source: string }>(sql`SELECT key_id, source FROM ledger_usage`)
    expect(rows).toEqual(Array.from({ length: 10 }, () => ({ key_id: id, source: 'batch' })))
    const stored = JSON.stringify(await v.t.gateway.db?.all(sql`SELECT * FROM batches_items`))
    expect(stored).not.toMatch(/say \d|heard/)
  })

  it('sixteen items at a time: Node warns of no leak, and a shutdown ends all of them', async () => {
    const warnings: string[] = []
    const warned = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`)
    process.on('warning', warned)
    try {
      v = await vendors(['openai'], { upstream: [{ kind: 'hang' }] })
      for (let batch = 0; batch < 5; batch++) await create({ requests: Array.from({ length: 4 }, (_, at) => chat(at)) })
      await expect.poll(() => v.vendor.requests.length, { timeout: 10_000 }).toBe(16)
      await v.t.gateway.close()
      expect(v.vendor.requests).toHaveLength(16)
    } finally {
      process.off('warning', warned)
    }
    expect(warnings).toEqual([])
  })

  it('waits for the rate limit of its key, and fails no item', async () => {
    v = await vendors(['openai'], { upstream: [echo] })
    const { key } = await makeKey(v.t, { rate_limit_rpm: 120 })
    const { json } = await create({ requests: Array.from({ length: 12 }, (_, at) => chat(at)) }, key)
    const done = await until(json.id, 'completed', key)
    expect(done.request_counts).toEqual({ total: 12, completed: 12, failed: 0 })
  })

  it('of a key that is revoked: the remaining items fail with 401', async () => {
    v = await vendors(['openai'], { upstream: [raw(503, '{}', { delayMs: 300 }), echo] })
    const { key, id } = (await makeKey(v.t)) as { key: string; id: number }
    await create({ requests: Array.from({ length: 10 }, (_, at) => chat(at)) }, key)
    expect((await v.t.fetch(`/api/keys/${id}`, { method: 'DELETE' })).status).toBeLessThan(300)
    const codes = async () =>
      (await v.t.gateway.db?.all<{ status_code: number }>(sql`SELECT status_code FROM batches_items WHERE state = 'done'`)) ?? []
    for (let tries = 0; tries < 400 && (await codes()).length < 10; tries++)
      await new Promise((resolve) => setTimeout(resolve, 25))
    expect((await codes()).filter(({ status_code }) => status_code === 401).length).toBeGreaterThanOrEqual(6)
  })

  it('that is cancelled: running items finish, waiting items are dropped', async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    v = await vendors(['openai'], { upstream: [choose(() => ({ kind: 'reply', reply: { text: 'x' }, hold: () => gate }))] })
    const { json } = await create({ requests: Array.from({ length: 20 }, (_, at) => chat(at)) })
    for (let tries = 0; tries < 400 && v.vendor.requests.length < 4; tries++)
      await new Promise((resolve) => setTimeout(resolve, 25))
    const cancelling = (await (await v.t.fetch(`/v1/batches/${json.id}/cancel`, { method: 'POST' })).json()) as Batch
    expect(cancelling.status).toBe('cancelling')
    open()
    const done = await until(json.id, 'cancelled')
    expect(done.results).toHaveLength(4)
    expect(v.vendor.requests).toHaveLength(4)
    expect(((await (await v.t.fetch(`/v1/batches/${json.id}/cancel`, { method: 'POST' })).json()) as Batch).status).toBe(
      'cancelled',
    )
  })

  it('of a process that ended: another one takes its items, and each has one result', async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const late: Step = { kind: 'reply', reply: { text: 'late' }, hold: () => gate }
    v = await vendors(['openai'], { upstream: [late, late, late, late, echo] })
    const { json } = await create({ requests: Array.from({ length: 8 }, (_, at) => chat(at)) })
    for (let tries = 0; tries < 400 && v.vendor.requests.length < 4; tries++)
      await new Promise((resolve) => setTimeout(resolve, 25))
    await v.t.gateway.db?.run(sql`UPDATE batches_items SET lease_owner = 'gone', lease_until = 0 WHERE state = 'running'`)
    const done = await until(json.id, 'completed')
    open()
    expect(done.results.map(({ response }) => JSON.stringify(response?.body).match(/heard: say \d+/)?.[0])).toEqual(
      Array.from({ length: 8 }, (_, at) => `heard: say ${at}`),
    )
    expect(v.vendor.requests).toHaveLength(12)
  })

  it('belongs to its key: 404 for every other', async () => {
    v = await vendors(['openai'])
    const [one, other] = [await makeKey(v.t), await makeKey(v.t)]
    const { json } = await create({ requests: [chat(0)] }, one.key)
    for (const headers of [bearer(other.key), {}]) {
      const response = await v.t.fetch(`/v1/batches/${json.id}`, { headers })
      expect(response.status).toBe(404)
      expect(((await (await v.t.fetch('/v1/batches', { headers })).json()) as { data: object[] }).data).toEqual([])
    }
    await until(json.id, 'completed', one.key)
  })
})

describe('what is refused', () => {
  it.each([
    [{}, 'requests'],
    [{ requests: [] }, 'requests'],
    [{ input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' }, 'input_file_id'],
    [{ requests: Array.from({ length: 1001 }, (_, at) => chat(at)) }, 'requests'],
    [{ requests: [chat(0), chat(0)] }, 'requests.1.custom_id'],
    [{ requests: [{ ...chat(0), custom_id: 'a b' }] }, 'requests.0.custom_id'],
    [{ requests: [{ ...chat(0), url: '/v1/images/generations' }] }, 'requests.0.url'],
    [{ requests: [{ ...chat(0), method: 'GET' }] }, 'requests.0.method'],
    [{ requests: [{ custom_id: 'a', url: '/v1/embeddings' }] }, 'requests.0.body'],
    [{ requests: [{ custom_id: 'a', body: { messages: [] } }] }, 'requests.0.body.model'],
    [{ requests: [{ custom_id: 'a', body: { model: 'm', stream: true } }] }, 'requests.0.body.stream'],
    [{ requests: [chat(0)], completion_window: '1h' }, 'completion_window'],
    [{ requests: [chat(0)], metadata: { a: 1 } }, 'metadata'],
  ])('%j', async (body, param) => {
    v = await vendors(['openai'])
    const { status, json } = await create(body)
    expect({ status, error: json.error }).toMatchObject({ status: 400, error: { param } })
    expect(await v.t.gateway.db?.all(sql`SELECT id FROM batches`)).toEqual([])
  })

  it('a batch with one model that the key may not use: 403 with its custom_id, and no row', async () => {
    v = await vendors(['openai'])
    const { key } = await makeKey(v.t, { allowed_models: ['openai/m'] })
    const { status, json } = await create({ requests: [chat(0), chat(1, 'openai/other')] }, key)
    expect({ status, error: json.error }).toMatchObject({
      status: 403,
      error: { type: 'permission_error', message: expect.stringContaining('item-1') },
    })
    expect(await v.t.gateway.db?.all(sql`SELECT id FROM batches`)).toEqual([])
    expect(v.vendor.requests).toHaveLength(0)
  })
})
