// The rows of a request in the ledger, and the end of its reservation.
import { afterEach, describe, expect, it } from 'vitest'
import { broken, fail, hang, reply, reset, text } from '../../../adapters/testing/script.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import { type Books, openBooks, PRICE } from './support.ts'

let books: Books
afterEach(() => books.gateway.close())

const chat = { model: 'chat/m', messages: [{ role: 'user', content: 'Hello there' }] }
const ask = (body: object = chat, headers: Record<string, string> = {}) =>
  books.gateway.post('/v1/chat/completions', body, headers)
const used = (input: number, output: number) => reply({ text: 'Hello.', usage: { input, output, cacheRead: 3, reasoning: 2 } })
const cost = (input: number, output: number) => input * PRICE.input + output * PRICE.output

describe('rows', () => {
  it('an answer is one row: whose it was, what it used, what it cost', async () => {
    books = await openBooks({ upstream: [used(20, 5)] })
    await (await ask(chat, { 'x-session-id': 's1', 'x-gateway-user-id': 'u1', 'x-gateway-cost-center': 'cc' })).text()
    await books.gateway.untilSettled()
    const [row, ...others] = await books.rows()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      step: 0,
      orgId: null,
      keyId: null,
      userId: 'u1',
      sessionId: 's1',
      costCenter: 'cc',
      source: 'api',
      operation: 'chat',
      provider: 'chat',
      model: 'm',
      requestedModel: 'chat/m',
      virtualModel: null,
      stream: false,
      status: 200,
      tokens: { input: 20, cacheRead: 3, cacheWrite: 0, output: 5, reasoning: 2 },
      costNano: cost(20, 5),
      chargeNano: cost(20, 5),
      priceRef: 'test',
      estimated: false,
      cached: null,
      interrupted: false,
    })
    expect(row?.requestId).toBe(books.gateway.settled[0]?.ctx.id)
    expect(await books.dispatched()).toBe(0)
  })

  it('a model without a price has no cost, which is not zero', async () => {
    books = await openBooks({ upstream: [used(20, 5)] })
    await (await ask({ ...chat, model: 'chat/unpriced' })).text()
    await books.gateway.untilSettled()
    expect(await books.rows()).toMatchObject([{ costNano: null, chargeNano: null, tokens: { input: 20 } }])
    expect(books.gateway.settled[0]?.outcome).toMatchObject({ costNano: null, chargeNano: null })
  })

  it('a failure upstream is a row without tokens; what was refused before an upstream was asked is none', async () => {
    books = await openBooks({ upstream: [fail(400, { message: 'no such thing' })] })
    await (await ask()).text()
    await (await ask({ ...chat, model: 'nobody/m' })).text()
    await (await ask({ ...chat, temperature: 9 })).text()
    await (await ask(chat, { 'x-hold': 'a 5/4' })).text()
    await books.gateway.untilSettled(4)
    expect(await books.rows()).toMatchObject([{ status: 400, provider: 'chat', model: 'm', costNano: 0, tokens: { input: 0 } }])
    expect(await books.dispatched()).toBe(0)
    expect(books.gateway.upstream.requests).toHaveLength(1)
  })

  it('an internal call without a parent is booked under its source', async () => {
    books = await openBooks({ upstream: [used(20, 5)] })
    const request: CanonicalRequest = {
      model: 'chat/m',
      stream: false,
      source: 'chat',
      system: [],
      tools: [],
      sampling: {},
      headers: {},
      ext: {},
      messages: [{ role: 'user', parts: [{ t: 'text', text: 'inner' }] }],
    }
    await books.inside.invoke(request, { operation: 'chat', source: 'probe', orgId: null })
    await books.gateway.untilSettled()
    expect(await books.rows()).toMatchObject([{ source: 'probe', costNano: cost(20, 5), step: 0 }])
  })

  it('steps of a virtual model are rows of one request, and count it once', async () => {
    books = await openBooks({ upstream: [used(10, 1), used(20, 2)] })
    await books.gateway.fetch('/api/virtual-models', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'two', strategy: 'pipeline', targets: ['chat/first', 'chat/second'] }),
    })
    expect((await ask({ ...chat, model: 'two' }, { 'x-hold': 'vm 900/1000' })).status).toBe(200)
    await books.gateway.untilSettled()
    const rows = await books.rows()
    expect(rows.map(({ step, model, source, virtualModel }) => ({ step, model, source, virtualModel }))).toEqual([
      { step: 0, model: 'first', source: 'pipeline', virtualModel: 'two' },
      { step: 1, model: 'second', source: 'pipeline', virtualModel: 'two' },
    ])
    expect(await books.balance('vm')).toEqual({ spent: cost(10, 1) + cost(20, 2), reserved: 0 })
    for await (const sum of books.ledger.usage.sums({ since: 0, until: Number.MAX_SAFE_INTEGER }, []))
      expect(sum).toMatchObject({ requests: 1, errors: 0, costNano: cost(10, 1) + cost(20, 2) })
  })

  it('a pipeline that dies at its second step books the first', async () => {
    books = await openBooks({ upstream: [used(10, 1), fail(500), fail(500), fail(500)] })
    await books.gateway.fetch('/api/virtual-models', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'two', strategy: 'pipeline', targets: ['chat/first', 'chat/second'] }),
    })
    expect((await ask({ ...chat, model: 'two' }, { 'x-hold': 'vm 900/1000' })).status).toBeGreaterThanOrEqual(500)
    await books.gateway.untilSettled()
    expect(await books.rows()).toMatchObject([{ step: 0, model: 'first', costNano: cost(10, 1) }])
    expect(await books.balance('vm')).toEqual({ spent: cost(10, 1), reserved: 0 })
  })
})

describe('holds', () => {
  it('are taken before the upstream is asked, and replaced by what was spent', async () => {
    books = await openBooks({ upstream: [hang()] })
    const server = await books.gateway.listen()
    const controller = new AbortController()
    const asking = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hold': 'a 60/100' },
      body: JSON.stringify(chat),
      signal: controller.signal,
    }).catch(() => null)
    await expect.poll(() => books.gateway.upstream.requests.length).toBe(1)
    expect(await books.balance('a')).toEqual({ spent: 0, reserved: 60 })
    expect(await books.dispatched()).toBe(1)
    // The next one does not fit beside it.
    expect((await ask(chat, { 'x-hold': 'a 41/100' })).status).toBe(402)
    controller.abort()
    await asking
    await books.gateway.untilSettled(2)
    expect((await books.balance('a')).reserved).toBe(0)
    books.gateway.upstream.script(used(20, 5))
    expect((await ask(chat, { 'x-hold': 'a 100/100' })).status).toBe(200)
    await books.gateway.untilSettled(3)
    expect(await books.balance('a')).toEqual({ spent: cost(20, 5), reserved: 0 })
  })

  it('end with the request, whichever way it ends', async () => {
    books = await openBooks({
      upstream: [fail(400), broken({ text: 'Some text that is cut.' }, 3), text('whole'), reset()],
    })
    for (let i = 0; i < 4; i++) await (await ask({ ...chat, stream: i % 2 === 1 }, { 'x-hold': 'a 60/1000000' })).text()
    await books.gateway.untilSettled(4)
    expect((await books.balance('a')).reserved).toBe(0)
    expect(await books.dispatched()).toBe(0)
    const rows = await books.rows()
    expect((await books.balance('a')).spent).toBe(rows.reduce((sum, row) => sum + (row.chargeNano ?? 0), 0))
  })

  it('a limit of nothing admits nothing, a hold of nothing passes until the limit is reached', async () => {
    books = await openBooks({ upstream: [used(20, 5)] })
    expect((await ask(chat, { 'x-hold': 'zero 0/0' })).status).toBe(402)
    expect((await ask(chat, { 'x-hold': 'some 0/50' })).status).toBe(200)
    await books.gateway.untilSettled(2)
    expect((await ask(chat, { 'x-hold': 'some 0/50' })).status).toBe(402)
    expect((await books.balance('some')).spent).toBe(cost(20, 5))
  })
})
