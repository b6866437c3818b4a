// The scripted upstream does what its script says, over real HTTP.
import { afterEach, describe, expect, it } from 'vitest'
import {
  broken,
  fail,
  frames,
  hang,
  RENDERERS,
  raw,
  reply,
  reset,
  type Step,
  scriptedUpstream,
  text,
} from '../../../adapters/testing/index.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})
async function upstream(...steps: Step[]) {
  const made = await scriptedUpstream(...steps)
  closing.push(made)
  const ask = (body: object = {}, init: RequestInit = {}) =>
    fetch(`${made.baseUrl('chat')}/chat/completions`, { method: 'POST', body: JSON.stringify(body), ...init })
  return { made, ask }
}

describe('the script', () => {
  it('plays one step a request and repeats its last; push adds, script replaces', async () => {
    const { made, ask } = await upstream(fail(503), text('one'))
    expect((await ask()).status).toBe(503)
    for (let i = 0; i < 2; i++) expect(await (await ask()).json()).toMatchObject({ choices: [{ message: { content: 'one' } }] })
    made.push(raw(202, 'later'))
    made.script(raw(201, 'now'))
    made.push(fail(418))
    expect([(await ask()).status, (await ask()).status]).toEqual([201, 418])
    expect(made.requests.map(({ dialect, stream }) => [dialect, stream])).toEqual(Array(5).fill(['chat', false]))
  })

  it('records what it was sent, and when the client left', async () => {
    const { made, ask } = await upstream(hang())
    const controller = new AbortController()
    const asking = ask({ model: 'm', stream: true }, { signal: controller.signal, headers: { 'x-a': 'b' } }).catch(() => {})
    await expect.poll(() => made.requests.length, { interval: 1 }).toBe(1)
    expect(made.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      json: { model: 'm' },
      stream: true,
      abortedAt: null,
    })
    expect(made.requests[0]?.headers['x-a']).toBe('b')
    controller.abort()
    await asking
    await expect.poll(() => made.requests[0]?.abortedAt, { interval: 1 }).not.toBeNull()
  })

  it('answers in the dialect of the path, streamed when the request asks for it', async () => {
    const { made } = await upstream(text('hi'))
    for (const [dialect, path] of [
      ['messages', '/messages'],
      ['responses', '/responses'],
      ['generate_content', '/models/m:generateContent'],
    ] as const) {
      const response = await fetch(`${made.baseUrl(dialect)}${path}`, { method: 'POST', body: '{}' })
      expect(await response.text()).toBe(JSON.stringify(RENDERERS[dialect].json({ text: 'hi' })))
    }
    const streamed = await fetch(`${made.baseUrl('messages')}/messages`, { method: 'POST', body: '{"stream":true}' })
    expect(await streamed.text()).toBe(RENDERERS.messages.frames({ text: 'hi' }).join(''))
  })
})

describe('badly', () => {
  it('cuts, resets and breaks where told', async () => {
    const { ask } = await upstream(
      reply({ text: 'hello' }, { cut: { after: 10, how: 'fin' } }),
      reset(),
      broken({ text: 'hello' }, 2, { message: 'no more' }),
      frames(['data: a\n\n', 'data: b\n\n'], { splitBytes: 1 }),
    )
    await expect(ask().then((response) => response.text())).rejects.toThrow()
    await expect(ask()).rejects.toThrow()
    expect(await (await ask({ stream: true })).text()).toMatch(/hell[\s\S]*no more/)
    expect(await (await ask({ stream: true })).text()).toBe('data: a\n\ndata: b\n\n')
  })

  it('compresses, delays, informs and labels as told', async () => {
    const { ask } = await upstream(
      text('zip', { encoding: 'gzip' }),
      raw(200, 'x', { delayMs: 30, contentType: 'text/x', headers: { 'x-y': 'z' }, inform: [103] }),
    )
    expect((await ask()).headers.get('content-encoding')).toBe('gzip')
    const started = performance.now()
    const response = await ask()
    expect(performance.now() - started).toBeGreaterThanOrEqual(28)
    expect([response.headers.get('content-type'), response.headers.get('x-y')]).toEqual(['text/x', 'z'])
  })
})
