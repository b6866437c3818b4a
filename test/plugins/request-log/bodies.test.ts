// Bodies: off by default and then stored nowhere, enabled at run time, and the stored form.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { broken, fail, reply, text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, detail, loggingGateway, logs } from './support.ts'

let t: TestGateway
let dir: string | null = null
afterEach(async () => {
  await t.close()
  if (dir !== null) rmSync(dir, { recursive: true })
  dir = null
})

const put = (body: object) =>
  t.fetch('/api/settings', { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const asked = async (body: object, path = '/v1/chat/completions') => {
  const response = await t.post(path, body)
  const answer = await response.text()
  const id = response.headers.get('x-gateway-request-id') as string
  await t.untilSettled(t.settled.length + (t.settled.some(({ ctx }) => ctx.id === id) ? 0 : 1))
  return { answer, logged: await detail(t, id) }
}
const stored = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.startsWith('gateway.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('')

describe('bodies are off', () => {
  it('and then nothing that was said is kept, whatever became of the request', async () => {
    dir = mkdtempSync(join(tmpdir(), 'hookgate-bodies-'))
    const prompt = `canary-${randomBytes(8).toString('hex')}`
    const completion = `canary-${randomBytes(8).toString('hex')}`
    const echo = fail(400, { message: `I do not like ${prompt}`, code: prompt.replaceAll('-', ' ') })
    t = await loggingGateway({
      env: { DATA_DIR: dir },
      upstream: [
        text(completion),
        text(completion),
        echo,
        fail(429, { message: `slow down with ${prompt}` }),
        broken({ text: completion }, 2, { message: `cut off at ${completion}` }),
      ],
    })
    const body = { messages: [{ role: 'user', content: prompt }] }
    for (const stream of [false, true, false, false, true]) await asked({ ...ask(), ...body, stream })
    await asked({ ...body, model: 'chat/m', temperature: prompt })
    const rows = await logs(t)
    expect(rows.data.length).toBe(6)
    const shown: string[] = [JSON.stringify(rows)]
    for (const { request_id } of rows.data) shown.push(JSON.stringify(await detail(t, request_id)))
    const kept = stored(dir)
    expect(kept).toContain(rows.data[0]?.request_id)
    for (const place of [...shown, kept]) {
      expect(place).not.toContain(prompt)
      expect(place).not.toContain(prompt.replaceAll('-', ' '))
      expect(place).not.toContain(completion)
    }
  })

  it('and the log says what an upstream answered in the gateway’s words', async () => {
    t = await loggingGateway({ upstream: [fail(400, { message: 'quoted prompt', code: 'bad_tool' })] })
    const { logged } = await asked(ask())
    expect(logged.error_message).toBe(
      'The upstream answered 400 (bad_tool). Its own words are kept with the bodies, where those are logged.',
    )
  })
})

describe('bodies are on', () => {
  it('by the variable; the setting wins at run time, and null gives it back', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: Array.from({ length: 4 }, () => text('said')) })
    const body = async () => (await asked(ask())).logged.request_body
    expect(await body()).toBe(JSON.stringify(ask()))
    expect((await put({ 'request_log.bodies': false })).status).toBe(200)
    expect(await body()).toBeNull()
    expect((await put({ request_log: { bodies: true } })).status).toBe(200)
    expect(await body()).toBe(JSON.stringify(ask()))
    expect((await put({ 'request_log.bodies': null })).status).toBe(200)
    expect(await body()).toBe(JSON.stringify(ask()))
    const audited = (await (await t.fetch('/api/audit?action=settings.update')).json()) as { data: unknown[] }
    expect(audited.data).toHaveLength(3)
  })

  it('sealed: not readable in the database', async () => {
    dir = mkdtempSync(join(tmpdir(), 'hookgate-bodies-'))
    t = await loggingGateway({ env: { LOG_BODIES: 'true', DATA_DIR: dir }, upstream: [text('canary-completion')] })
    const { logged } = await asked(ask('chat/m', { messages: [{ role: 'user', content: 'canary-prompt' }] }))
    expect(logged.request_body).toContain('canary-prompt')
    expect(logged.response_body).toContain('canary-completion')
    expect(stored(dir)).toContain(logged.request_id)
    expect(stored(dir)).not.toContain('canary')
  })

  it('as the caller sent and got them', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: [text('hello')] })
    const { answer, logged } = await asked({ ...ask('messages/m'), max_tokens: 9 }, '/v1/messages')
    expect(logged.response_body).toBe(answer)
    expect(logged).toMatchObject({ request_truncated: false, response_truncated: false })
  })

  it.each([
    ['the same dialect', 'chat/m'],
    ['another one', 'messages/m'],
  ])('a stream as the message it made, over %s, its bytes unchanged', async (_name, model) => {
    const turn = { text: 'hello there', toolCalls: [{ id: 'call_1', name: 'look', args: '{"at":1}' }] }
    t = await loggingGateway({ upstream: [reply(turn as never), reply(turn as never)] })
    const off = await asked(ask(model, { stream: true }))
    await put({ 'request_log.bodies': true })
    const on = await asked(ask(model, { stream: true }))
    const stable = (stream: string) => stream.replace(/"(id|created)":[^,}]+/g, '')
    expect(stable(on.answer)).toBe(stable(off.answer))
    const message = JSON.parse(on.logged.response_body as string) as {
      choices: { message: { parts: { type: string; text?: string; name?: string }[] }; finish_reason: string }[]
    }
    expect(message.choices[0]?.message.parts[0]).toEqual({ type: 'text', text: 'hello there' })
    expect(message.choices[0]?.finish_reason).not.toBeNull()
  })

  it('a panel’s stream as what its judge said, in one row with the calls of all', async () => {
    const script = [text('from a'), text('from b'), text('final words')]
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: script })
    const config = { judge: 'responses/j', straggler_grace_ms: 40 }
    const targets = ['chat/a', 'messages/b']
    expect((await t.post('/api/virtual-models', { name: 'vm', strategy: 'fusion', targets, config })).status).toBe(201)
    const { logged } = await asked(ask('vm', { stream: true }))
    expect(logged.response_body).toContain('final words')
    expect(logged.response_body).not.toContain('from a')
    expect(logged).toMatchObject({ virtual_model: 'vm', provider: 'responses', model: 'j', stream: true })
    expect((logged.attempts as { role?: string }[]).map(({ role }) => role)).toEqual(['panel', 'panel', 'judge'])
    expect((await logs(t)).data).toHaveLength(1)
  })

  it('of a stream that broke as far as it got', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: [broken({ text: 'one two three four five' }, 4)] })
    const { logged } = await asked(ask('chat/m', { stream: true }))
    expect(logged.status).toBe(502)
    const { choices } = JSON.parse(logged.response_body as string) as {
      choices: { message: { parts: { text: string }[] }; finish_reason: null }[]
    }
    expect('one two three four five').toContain(choices[0]?.message.parts[0]?.text)
    expect(choices[0]?.message.parts[0]?.text.length).toBeGreaterThan(0)
    expect(choices[0]?.finish_reason).toBeNull()
  })

  it('with what the upstream said of its failure, without its secrets', async () => {
    t = await loggingGateway({
      env: { LOG_BODIES: 'true' },
      upstream: [fail(400, { message: 'no tool `look` for sk-upstream' })],
    })
    const { logged } = await asked(ask())
    expect(logged.error_message).toMatch(/^The upstream answered 400/)
    expect(logged.response_body).toContain('no tool `look`')
    expect(JSON.stringify(logged)).not.toContain('sk-upstream')
  })

  it('without secrets, headers and media', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: [text('fine')] })
    const image = randomBytes(300).toString('base64')
    const secret = `sk-ant-${randomBytes(16).toString('hex')}`
    const content = [
      { type: 'text', text: `my key is ${secret}` },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ]
    const response = await t.post('/v1/chat/completions', ask('chat/m', { messages: [{ role: 'user', content }] }), {
      'x-canary': 'canary-header',
    })
    const logged = await detail(t, response.headers.get('x-gateway-request-id') as string)
    expect(logged.request_body).toContain('my key is sk-a***')
    expect(logged.request_body).toContain('"url":"[media 300 bytes image/png]"')
    const whole = JSON.stringify(logged)
    for (const gone of [image, secret, 'canary-header']) expect(whole).not.toContain(gone)
  })

  it('cut at GATEWAY_LOG_MAX_BODY_BYTES, and flagged', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true', LOG_MAX_BODY_BYTES: '100' }, upstream: [text('€'.repeat(200))] })
    const { logged } = await asked(ask('chat/m', { messages: [{ role: 'user', content: '😀'.repeat(100) }] }))
    expect(logged).toMatchObject({ request_truncated: true, response_truncated: true })
    for (const body of [logged.request_body, logged.response_body]) {
      expect(Buffer.byteLength(body as string)).toBeLessThanOrEqual(100)
      expect(Buffer.byteLength(body as string)).toBeGreaterThan(96)
      expect(body).not.toContain('\uFFFD')
    }
  })

  it('are gone with their row', async () => {
    t = await loggingGateway({ env: { LOG_BODIES: 'true' }, upstream: [text('x')] })
    const { logged } = await asked(ask())
    await t.fetch(`/api/logs/${logged.request_id}`, { method: 'DELETE' })
    const rest = await t.gateway.db?.get({ text: 'SELECT COUNT(*) AS n FROM request_log_bodies', params: [] })
    expect(rest).toEqual({ n: 0 })
    const total = await t.gateway.db?.get({ text: 'SELECT body_bytes FROM request_log_totals', params: [] })
    expect(total).toEqual({ body_bytes: 0 })
  })
})
