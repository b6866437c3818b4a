// A field that the upstream refuses is removed and the same account is called again; each call is billed and logged as usual.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, fail, text } from '../../adapters/testing/index.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Attempt } from '../../core/types/request/context.ts'
import { type Accounts, accounts } from '../pipeline/support/accounts.ts'

let at: Accounts
beforeAll(async () => {
  at = await accounts()
})
afterAll(() => at.close())
afterEach(() => {
  at.bad.requests.length = 0
})

const FIELDS = ['seed', 'top_p', 'temperature', 'presence_penalty', 'frequency_penalty', 'logprobs'] as const
const refusal = (field: string) =>
  fail(400, { message: `Unsupported parameter: '${field}' is not supported with this model.`, param: field })

async function ask(model: string) {
  const settled = at.t.settled.length
  const response = await at.t.post('/v1/chat/completions', {
    model,
    seed: 1,
    top_p: 0.5,
    temperature: 0.5,
    presence_penalty: 0.1,
    frequency_penalty: 0.1,
    logprobs: true,
    messages: [{ role: 'user', content: 'hello' }],
  })
  await response.text()
  await at.t.untilSettled(settled + 1)
  return { response, attempts: at.t.settled.at(-1)!.ctx.attempts }
}

const lines = (attempts: readonly Attempt[]) => attempts.map(({ status, action }) => [status, action])

describe('the timeline', () => {
  it('has a line for the refusal and one for the answer, and the header counts both', async () => {
    at.bad.script(refusal('seed'), text('hello'))
    const { response, attempts } = await ask('two-chat/m')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(response.headers.get('x-gateway-warnings')).toBe('stripped_seed')
    expect(lines(attempts)).toEqual([
      [400, 'retry_stripped_field'],
      [200, 'returned'],
    ])
    expect(attempts[0]?.error).toMatchObject({ upstream: { field: 'seed' } })
    expect(attempts.every(({ latencyMs }) => latencyMs !== undefined)).toBe(true)
    expect(at.bad.requests.map(({ json }) => 'seed' in json)).toEqual([true, false])
  })

  it('has a line per field, at most five, on one account', async () => {
    at.bad.script(...FIELDS.map(refusal))
    const { response, attempts } = await ask('all-chat/m')
    expect(response.status).toBe(400)
    expect(lines(attempts)).toEqual([...Array(5).fill([400, 'retry_stripped_field']), [400, undefined]])
    expect(new Set(attempts.map(({ candidate }) => candidate.connection.id)).size).toBe(1)
  })

  it('goes on to the next account when the call without the field fails', async () => {
    at.bad.script(refusal('seed'), fail(503))
    const { response, attempts } = await ask('two-chat/m')
    expect(response.headers.get('x-gateway-attempts')).toBe('3')
    expect(lines(attempts)).toEqual([
      [400, 'retry_stripped_field'],
      [503, 'next_account'],
      [200, 'returned'],
    ])
    // Another account may know the field.
    expect(at.good.requests.at(-1)?.json).toMatchObject({ seed: 1 })
  })
})

describe('eight calls a request', () => {
  it('are the limit with those for stripped fields', async () => {
    at.bad.script(...Array.from({ length: 9 }, () => [refusal('seed'), fail(503)]).flat())
    const { attempts } = await ask('many-chat/m')
    expect(lines(attempts)).toEqual(
      Array.from({ length: 4 }, () => [
        [400, 'retry_stripped_field'],
        [503, 'next_account'],
      ]).flat(),
    )
    expect(at.bad.requests).toHaveLength(8)
  })

  it('leave the last refusal as it is, without a warning that something was stripped', async () => {
    at.bad.script(...Array.from({ length: 7 }, () => fail(503)), refusal('seed'))
    const { response, attempts } = await ask('many-chat/m')
    expect(response.status).toBe(400)
    expect(response.headers.get('x-gateway-warnings')).toBeNull()
    expect(attempts).toHaveLength(8)
    expect(lines(attempts).at(-1)).toEqual([400, undefined])
    expect(at.bad.requests).toHaveLength(8)
  })

  it('bind any plugin that sends again', async () => {
    const stubborn = definePlugin({
      name: 'stubborn',
      setup(gateway) {
        gateway.hook('attempt', async (ctx, _candidate, next) => {
          for (let left = 20; ; left--) {
            try {
              return await next()
            } catch (error) {
              if (left === 0) throw error
              const line = ctx.attempts.at(-1)
              if (left === 20 && line !== undefined) line.action = 'waited_cooldown'
            }
          }
        })
      },
    })()
    const t = await createTestGateway({ plugins: [stubborn] })
    t.upstream.script(...Array.from({ length: 30 }, () => fail(503)))
    const response = await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
    await t.untilSettled()
    expect(response.status).toBe(503)
    expect(response.headers.get('x-gateway-attempts')).toBe('8')
    expect(t.upstream.requests).toHaveLength(8)
    expect(lines(t.settled[0]!.ctx.attempts)).toEqual([
      [503, 'waited_cooldown'],
      ...Array(6).fill([503, 'retried']),
      [503, 'next_account'],
    ])
    await t.close()
  })

  it('are refused by name to a plugin that has its answer already', async () => {
    const errors: unknown[] = []
    const greedy = definePlugin({
      name: 'greedy',
      setup(gateway) {
        gateway.hook('attempt', async (_ctx, _candidate, next) => {
          for (let calls = 0; calls < 8; calls++) await next()
          return next().catch((error: unknown) => {
            errors.push(error)
            throw GatewayError.blocked('greedy')
          })
        })
      },
    })()
    const t = await createTestGateway({ plugins: [greedy] })
    await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
    await t.untilSettled()
    expect(errors).toMatchObject([{ status: 503, message: 'One request makes at most 8 upstream calls.' }])
    expect(t.upstream.requests).toHaveLength(8)
    await t.close()
  })
})

describe('an identifier that is too long', () => {
  const tooLong = fail(400, {
    message:
      "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length 150 instead.",
    param: 'user',
    code: 'string_above_max_length',
  })
  const id = 'user_'.padEnd(150, 'a')
  const askAs = (path: string, body: object) => at.t.post(path, { model: 'two-chat/m', ...body })
  const question = { messages: [{ role: 'user', content: 'hello' }] }

  it('is sent as its hash, and left out when that is refused too', async () => {
    at.bad.script(tooLong, tooLong, text('hello'))
    const response = await askAs('/v1/chat/completions', { ...question, user: id })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-warnings')?.split(',').sort()).toEqual(['hashed_user', 'stripped_user'])
    expect(at.bad.requests.map(({ json }) => json.user)).toEqual([id, expect.stringMatching(/^[0-9a-f]{64}$/), undefined])
  })

  it('of a caller of messages is the same hash with every request', async () => {
    at.bad.script(tooLong, text('hello'), tooLong, text('hello'))
    for (let turn = 0; turn < 2; turn++) {
      const response = await askAs('/v1/messages', { ...question, max_tokens: 9, metadata: { user_id: id } })
      expect(response.status).toBe(200)
      await response.text()
    }
    const sent = at.bad.requests.map(({ json }) => json.user as string)
    expect(sent).toEqual([id, sent[1], id, sent[1]])
    expect(sent[1]).toHaveLength(64)
  })
})
