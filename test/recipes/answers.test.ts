// Recipes that make, change or count answers, and those that send records elsewhere.
import { describe, expect, it } from 'vitest'
import { fail, fakeClock, frames, reply, text } from '../../adapters/testing/index.ts'
import { answerCache } from '../../examples/recipes/answer-cache.ts'
import { budgetChat } from '../../examples/recipes/budget-chat.ts'
import { cannedAnswer } from '../../examples/recipes/canned-answer.ts'
import { dailyReport } from '../../examples/recipes/daily-report.ts'
import { httpOutbox } from '../../examples/recipes/http-outbox.ts'
import { kafkaSink } from '../../examples/recipes/kafka-sink.ts'
import { redactEmails } from '../../examples/recipes/redact-emails.ts'
import { topModelsRoute } from '../../examples/recipes/top-models-route.ts'
import { whoamiRoute } from '../../examples/recipes/whoami-route.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { chat, errorOf, receiver, textOf, withRecipe } from './support.ts'

const PATH = '/v1/chat/completions'

describe('redact-emails', () => {
  const SECRET = 'Write to ann.lee@mail.example.org, or to bob@x.io'
  const CLEAN = 'Write to [e-mail], or to [e-mail]'

  it('removes addresses from a whole answer', async () => {
    const t = await withRecipe(redactEmails(), { upstream: [text(SECRET)] })
    expect(await textOf(await t.post(PATH, chat()))).toBe(CLEAN)
  })

  it.each(['chat', 'messages', 'responses'])('and from a stream of %s, wherever it is cut', async (dialect) => {
    for (const splitBytes of [1, 3, 7, 50]) {
      const t = await withRecipe(redactEmails(), { upstream: [text(SECRET, { splitBytes })] })
      expect(await textOf(await t.post(PATH, chat(`${dialect}/m`, { stream: true })))).toBe(CLEAN)
    }
  })

  it('and from a stream of single letters', async () => {
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    const letters = [...SECRET].map((content) => chunk({ content }))
    const t = await withRecipe(redactEmails(), { upstream: [frames([...letters, chunk({}, 'stop'), 'data: [DONE]\n\n'])] })
    expect(await textOf(await t.post(PATH, chat('chat/m', { stream: true })))).toBe(CLEAN)
  })
})

describe('answer-cache', () => {
  it('answers an equal deterministic request of the same key without an upstream call', async () => {
    const t = await withRecipe(answerCache({}), { upstream: [text('One.'), text('Two.')], env: { DEDUP_TTL_MS: '0' } })
    const ask = (more: object, headers = {}) => t.post(PATH, chat('chat/m', { temperature: 0, ...more }), headers)
    expect(await textOf(await ask({}))).toBe('One.')
    expect(await textOf(await ask({}))).toBe('One.')
    const { key } = await makeKey(t)
    expect(await textOf(await ask({}, bearer(key)))).toBe('Two.')
    expect(await textOf(await ask({ temperature: 1 }))).toBe('Two.')
    expect(t.upstream.requests).toHaveLength(3)
    await t.untilSettled(4)
    expect(t.settled.map(({ outcome }) => outcome.cached)).toEqual([false, 'exact', false, false])
  })
})

describe('canned-answer', () => {
  it.each([false, true])('answers with its text when the upstream fails, stream: %s', async (stream) => {
    const t = await withRecipe(cannedAnswer({ text: 'Come back later.' }), { upstream: [fail(500)] })
    const response = await t.post(PATH, chat('chat/m', { stream }))
    expect(await textOf(response)).toBe('Come back later.')
    await t.untilSettled()
    expect(t.settled[0]?.outcome.chargeNano ?? 0).toBe(0)
  })

  it('leaves the caller’s own mistakes as they are', async () => {
    const t = await withRecipe(cannedAnswer({}))
    expect(await errorOf(await t.post(PATH, chat('unknown/m')))).toMatchObject({ status: 400, param: 'model' })
  })
})

describe('http-outbox', () => {
  it('posts each record once, also after a failed attempt', async () => {
    const sink = await receiver()
    const clock = fakeClock()
    const t = await withRecipe(httpOutbox({ url: sink.url, everyMs: 1000 }), { ports: { clock } })
    sink.answer = undefined
    await textOf(await t.post(PATH, chat()))
    await t.untilSettled()
    await clock.advance(1200)
    expect(sink.bodies).toEqual([])
    sink.answer = {}
    await expect
      .poll(async () => {
        await clock.advance(1200)
        return sink.bodies.length
      })
      .toBe(1)
    await clock.advance(5000)
    expect(sink.bodies).toHaveLength(1)
    expect(sink.bodies[0]).toMatchObject({ records: [{ request_id: t.settled[0]?.ctx.id, model: 'chat/m', status: 200 }] })
  })
})

describe('kafka-sink', () => {
  it('sends a message for each request', async () => {
    const sent: { topic: string; messages: { key: string; value: string }[] }[] = []
    const producer = { send: async (batch: (typeof sent)[number]) => void sent.push(batch) }
    const t = await withRecipe(kafkaSink({ producer, topic: 'requests' }))
    await textOf(await t.post(PATH, chat()))
    await expect.poll(() => sent.length).toBe(1)
    expect(sent[0]?.topic).toBe('requests')
    expect(JSON.parse(sent[0]?.messages[0]?.value ?? '')).toMatchObject({
      id: t.settled[0]?.ctx.id,
      model: 'chat/m',
      status: 200,
    })
  })
})

describe('whoami-route', () => {
  it('describes the caller’s key, and needs one', async () => {
    const t = await withRecipe(whoamiRoute())
    const { key } = await makeKey(t, { label: 'ci', allowed_models: ['chat/*'] })
    const response = await t.fetch('/v1/whoami', { headers: bearer(key) })
    expect(await response.json()).toMatchObject({ label: 'ci', models: ['chat/*'] })
    expect((await t.fetch('/v1/whoami')).status).toBe(401)
  })
})

describe('top-models-route', () => {
  it('counts upstream calls by model', async () => {
    const t = await withRecipe(topModelsRoute({}))
    for (const model of ['chat/a', 'chat/b', 'chat/b']) await textOf(await t.post(PATH, chat(model)))
    await t.untilSettled(3)
    const response = await t.fetch('/api/top-models?limit=1')
    expect(await response.json()).toEqual({ data: [{ model: 'chat/b', requests: 2 }] })
    expect((await t.fetch('/api/top-models?limit=0')).status).toBe(400)
  })
})

describe('daily-report', () => {
  it('posts the sums of the day', async () => {
    const room = await receiver()
    const clock = fakeClock()
    const t = await withRecipe(dailyReport({ url: room.url }), { ports: { clock }, upstream: [text('ok'), fail(500)] })
    await textOf(await t.post(PATH, chat()))
    await t.post(PATH, chat())
    await t.untilSettled(2)
    await clock.advance('27h')
    await expect.poll(() => room.bodies.length).toBe(1)
    expect(room.bodies[0]?.text).toMatch(/^2026-01-0\d: 2 requests, 1 failed, 0\.00 USD$/)
  })
})

describe('budget-chat', () => {
  it('posts when a budget refuses a request', async () => {
    const room = await receiver()
    const t = await withRecipe(budgetChat({ url: room.url }), { upstream: [reply({ text: 'ok' })] })
    const made = await t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 0 })
    expect(made.status).toBe(201)
    expect(await errorOf(await t.post(PATH, chat()))).toMatchObject({ status: 402 })
    await expect.poll(() => room.bodies.length).toBeGreaterThan(0)
    expect(room.bodies[0]?.text).toMatch(/^The budget of .* \(0 USD\) is used up/)
  })
})
