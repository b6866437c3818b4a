// `background: true`: the answer is created after the request has been answered.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply, type Step } from '../../../adapters/testing/script.ts'
import type { TestGateway, TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { makeKey } from '../keys/support.ts'
import { type Storing, storingGateway } from './support.ts'

let t: TestGateway
let db: Db
let clock: Storing['clock']
afterEach(() => t.close())

async function open(upstream: Step[], options: TestGatewayOptions = {}): Promise<void> {
  ;({ t, db, clock } = await storingGateway({ upstream, ...options }))
}

function client(key = 'none'): OpenAI {
  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(url))
    return t.fetch(pathname + search, init)
  }
  return new OpenAI({ apiKey: key, baseURL: 'http://127.0.0.1/v1', fetch, maxRetries: 0 })
}

/** Time passes until the promise is settled. */
async function passing<T>(asking: Promise<T>): Promise<T> {
  let done = false
  const end = (): void => {
    done = true
  }
  asking.then(end, end)
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(250)
  }
  return asking
}

async function ended(sdk: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await passing(sdk.responses.retrieve(id))
    if (response.status !== 'queued' && response.status !== 'in_progress') return response
  }
}

const until = async (is: () => boolean): Promise<void> => {
  while (!is()) await new Promise((resolve) => setImmediate(resolve))
}
const ASK = { model: 'chat/m', input: 'Hello', background: true } as const

describe.each(['chat', 'responses'])('over %s', (dialect) => {
  it('is queued, runs as an ordinary request of the key, and is completed', async () => {
    await open([reply({ text: 'Later.' })])
    const { key, id: keyId } = await makeKey(t)
    const sdk = client(key)
    const queued = await sdk.responses.create({ ...ASK, model: `${dialect}/m`, metadata: { team: 'a' } })
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [], metadata: { team: 'a' } })
    const done = await ended(sdk, queued.id)
    expect(done).toMatchObject({ id: queued.id, status: 'completed', background: true, created_at: queued.created_at })
    expect(done.output_text).toBe('Later.')
    expect(t.upstream.requests).toHaveLength(1)
    expect(t.upstream.requests[0]?.json).not.toHaveProperty('background')
    const run = t.settled.find(({ ctx }) => ctx.source === 'background')
    expect(run?.ctx.principal.keyId).toBe(Number(keyId))
    expect(run?.outcome.steps).toHaveLength(1)
    const next = await passing(sdk.responses.create({ model: 'chat/m', input: 'More', previous_response_id: queued.id }))
    expect(next.previous_response_id).toBe(queued.id)
  })
})

it.each(['the request', 'a reader'])('is followed by the stream of %s', async (by) => {
  await open([reply({ text: 'Later.' })])
  const sdk = client()
  const events: OpenAI.Responses.ResponseStreamEvent[] = []
  const read = async () => {
    const stream =
      by === 'the request'
        ? await sdk.responses.create({ ...ASK, stream: true })
        : await sdk.responses.retrieve((await sdk.responses.create(ASK)).id, { stream: true })
    for await (const event of stream) events.push(event)
  }
  await passing(read())
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.slice(0, 3).map(({ type }) => type)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
})

it('is cancelled while it runs, and the upstream call ends', async () => {
  await open([reply({ text: 'Never.' }, { hold: () => new Promise(() => {}) })])
  const sdk = client()
  const { id } = await sdk.responses.create(ASK)
  await until(() => t.upstream.requests.length === 1)
  expect(await sdk.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
  await until(() => t.upstream.requests[0]?.abortedAt !== null)
  expect(await sdk.responses.cancel(id)).toMatchObject({ status: 'cancelled' })
  expect(await sdk.responses.retrieve(id)).toMatchObject({ status: 'cancelled', output: [] })
})

it('has failed when the upstream failed', async () => {
  await open([fail(500)])
  const sdk = client()
  const { id } = await sdk.responses.create(ASK)
  expect(await ended(sdk, id)).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
})

it('has failed when the process of the run is gone: it is not run twice', async () => {
  await open([reply({ text: 'Never.' }, { hold: () => new Promise(() => {}) })])
  const sdk = client()
  const { id } = await sdk.responses.create(ASK)
  await until(() => t.upstream.requests.length === 1)
  await db.run(sql`UPDATE responses_state_runs SET lease_owner = 'gone', lease_until = 0`)
  const done = await ended(sdk, id)
  expect(done).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('stopped') } })
  expect(t.upstream.requests).toHaveLength(1)
  const [row] = await db.all(sql`SELECT request_sealed FROM responses_state_runs`)
  expect(row).toEqual({ request_sealed: null })
})

it('belongs to its key', async () => {
  await open([reply({ text: 'Later.' })])
  const [alice, bob] = [await makeKey(t), await makeKey(t)]
  const { id } = await client(alice.key).responses.create(ASK)
  for (const ask of ['retrieve', 'cancel', 'delete'] as const)
    await expect(client(bob.key).responses[ask](id)).rejects.toMatchObject({ status: 404, code: 'response_not_found' })
  await ended(client(alice.key), id)
  await client(alice.key).responses.delete(id)
  await expect(client(alice.key).responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
})

it('refuses what cannot be cancelled, and a background response without `store`', async () => {
  await open([reply({ text: 'Now.' })])
  const sdk = client()
  const { id } = await sdk.responses.create({ model: 'chat/m', input: 'Hello' })
  await t.untilCommitted(1)
  await expect(sdk.responses.cancel(id)).rejects.toMatchObject({ status: 400 })
  await expect(sdk.responses.create({ ...ASK, store: false })).rejects.toMatchObject({ status: 400, param: 'store' })
})
