// fusion and pipeline: who is asked what, what is left out, what it counts, and how it fails.
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { fail, hang, reply, reset, text } from '../../../adapters/testing/script.ts'
import { contentOf, refusalOf, type Site, type SiteOptions, site } from './support.ts'

let s: Site
afterEach(() => s.close())
const start = async (names: string, options?: SiteOptions) => {
  s = await site(names.split(''), options)
}
const targets = (names: string) => names.split('').map((name) => `${name}/m`)
const used = (content: string, input: number, output: number) => reply({ text: content, usage: { input, output } })
// Everybody answers, if not at once.
const patient = { straggler_grace_ms: 30_000, panel_timeout_ms: 30_000 }
const lastTurn = (request: RecordedRequest | undefined) =>
  (request?.json.messages as { role: string; content: string }[]).at(-1)?.content ?? ''
const outcome = async () => {
  await s.t.untilSettled(1)
  return s.t.settled[0] as Site['t']['settled'][number]
}
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]

describe('fusion', () => {
  it('hands a panel’s answers to the judge without names, and sums up what all of them used', async () => {
    await start('abj', { script: { a: [used('from a', 10, 1)], b: [used('from b', 20, 2)], j: [used('final', 300, 30)] } })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('ab'), config: { ...patient, judge: 'j/judge' } })
    const response = await s.ask('vm', { max_tokens: 77, response_format: { type: 'json_object' } })
    const answer = (await response.json()) as { usage: Record<string, number> }
    expect(contentOf(answer)).toBe('final')
    expect(answer.usage).toMatchObject({ prompt_tokens: 330, completion_tokens: 33, total_tokens: 363 })
    const asked = s.up.j?.requests[0]
    expect(asked?.json).toMatchObject({ model: 'judge', max_tokens: 77, response_format: { type: 'json_object' } })
    expect(lastTurn(asked)).toMatch(/\[Source 1\]\nfrom a[\s\S]*\[Source 2\]\nfrom b$/)
    expect(lastTurn(asked)).not.toMatch(/a\/m|b\/m/)
    expect(s.up.a?.requests[0]?.json.messages).toEqual([{ role: 'user', content: 'hi' }])
    const { ctx, outcome: ended } = await outcome()
    expect(ctx.attempts.map(({ role }) => role)).toEqual(['panel', 'panel', 'judge'])
    expect(ended.steps.map(({ usage }) => usage.total).sort((x, y) => x - y)).toEqual([11, 22, 330])
    expect(ended.usage.total).toBe(363)
    const shown = ['attempts', 'provider', 'model'].map((name) => response.headers.get(`x-gateway-${name}`))
    expect(shown).toEqual(['3', 'j', 'judge'])
  })

  it('waits no longer for the slow than it must: the judge never sees them, and they are cut off', async () => {
    const clock = fakeClock()
    await start('abcj', { script: { a: [text('quick')], b: [hang()], c: [fail(500)], j: [text('final')] }, ports: { clock } })
    /** The clock goes on, and so slowly that whoever answers is heard. */
    const asked = async (name: string) => {
      let done = false
      const answer = s.ask(name).finally(() => {
        done = true
      })
      while (!done) {
        await clock.advance(10)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return contentOf(await (await answer).json())
    }
    const quick = { straggler_grace_ms: 1500, panel_timeout_ms: 30_000 }
    await s.make({
      name: 'vm',
      strategy: 'fusion',
      targets: targets('abc'),
      config: { ...quick, min_panel: 1, judge: 'j/m' },
    })
    await s.make({ name: 'pair', strategy: 'fusion', targets: targets('ab'), config: { ...quick, panel_timeout_ms: 1500 } })
    expect(await asked('vm')).toBe('quick')
    expect(s.calls('j')).toBe(0)
    await expect.poll(() => s.up.b?.requests[0]?.abortedAt).not.toBeNull()
    s.up.c?.script(text('second'))
    expect(await asked('vm')).toBe('final')
    expect(lastTurn(s.up.j?.requests[0])).toMatch(/quick[\s\S]*second$/)
    // Two are wanted, one comes: the hard stop ends it.
    expect(await asked('pair')).toBe('quick')
    await expect.poll(() => s.up.b?.requests.every(({ abortedAt }) => abortedAt !== null)).toBe(true)
  })

  it('streams the judge, and a lone answer as if it had been a stream', async () => {
    await start('abj', { script: { a: [used('from a', 10, 1)], b: [used('from b', 20, 2)], j: [used('final', 300, 30)] } })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('ab'), config: { ...patient, judge: 'j/m' } })
    const { url } = await s.t.listen()
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    const streamed = async () => {
      let content = ''
      let usage: unknown = null
      const stream = await client.chat.completions.create({
        model: 'vm',
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: 'hi' }],
      })
      for await (const chunk of stream) {
        content += chunk.choices[0]?.delta.content ?? ''
        usage = chunk.usage ?? usage
      }
      return [content, (usage as { total_tokens: number } | null)?.total_tokens]
    }
    expect(await streamed()).toEqual(['final', 363])
    expect(s.up.j?.requests[0]?.stream).toBe(true)
    expect(s.up.a?.requests[0]?.stream).toBe(false)
    await s.t.untilSettled(1)
    expect(s.t.settled[0]?.outcome.usage.total).toBe(363)
    s.up.b?.script(fail(500))
    expect(await streamed()).toEqual(['from a', 11])
    expect(s.calls('j')).toBe(1)
  })

  it('gives the longest answer when the judge fails, and 503 when nobody answers', async () => {
    await start('abj', { script: { a: [text('short')], b: [text('the longer one')], j: [fail(500)] } })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('ab'), config: { ...patient, judge: 'j/m' } })
    expect(contentOf(await (await s.ask('vm')).json())).toBe('the longer one')
    const { ctx } = await outcome()
    expect(ctx.attempts.find(({ role }) => role === 'judge')?.status).toBe(500)
    s.up.a?.script(fail(500))
    s.up.b?.script(text(''))
    expect(await refusalOf(await s.ask('vm'))).toMatchObject({ status: 503, code: 'upstream_unavailable' })
  })

  it('has the first that can be asked judge when the first target rests, or failed in the panel', async () => {
    const rests = fail(429, { headers: { 'retry-after': '60' } })
    await start('abc', { script: { a: [rests], b: [text('from b'), text('judged')], c: [text('from c')] }, resilience: true })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('abc'), config: patient })
    const judged = async () => {
      const response = await s.ask('vm')
      return [contentOf(await response.json()), response.headers.get('x-gateway-provider')]
    }
    expect(await judged()).toEqual(['judged', 'b'])
    expect(await judged()).toEqual(['judged', 'b'])
    expect([s.calls('a'), s.calls('b'), s.calls('c')]).toEqual([1, 4, 2])
    // A judge that is named is the owner's choice: without it the longest answer is given.
    await s.make({ name: 'named', strategy: 'fusion', targets: targets('bc'), config: { ...patient, judge: 'a/m' } })
    expect(contentOf(await (await s.ask('named')).json())).toBe('judged')
    expect(s.calls('a')).toBe(1)
  })

  it('asks nobody but the judge when there are tools, and everybody when they may not be used', async () => {
    await start('abj')
    await s.make({ name: 'judged', strategy: 'fusion', targets: targets('ab'), config: { ...patient, judge: 'j/m' } })
    await s.make({ name: 'plain', strategy: 'fusion', targets: targets('ab'), config: patient })
    expect(contentOf(await (await s.ask('judged', { tools })).json())).toBe('j')
    expect(s.up.j?.requests[0]?.json.tools).toHaveLength(1)
    expect(contentOf(await (await s.ask('plain', { tools })).json())).toBe('a')
    expect([s.calls('a'), s.calls('b')]).toEqual([1, 0])
    expect(contentOf(await (await s.ask('judged', { tools, tool_choice: 'none' })).json())).toBe('j')
    expect(s.up.b?.requests[0]?.json).not.toHaveProperty('tools')
  })

  it('is over when the deadline is', async () => {
    await start('ab', { script: { a: [hang()], b: [hang()] }, env: { REQUEST_DEADLINE_MS: '80' } })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('ab') })
    expect(await refusalOf(await s.ask('vm'))).toMatchObject({ status: 504, code: 'upstream_timeout' })
    await expect.poll(() => [s.up.a, s.up.b].every((up) => up?.requests[0]?.abortedAt !== null)).toBe(true)
  })

  it('ends every call when the caller leaves', async () => {
    await start('ab', { script: { a: [hang()], b: [hang()] } })
    await s.make({ name: 'vm', strategy: 'fusion', targets: targets('ab') })
    const { url } = await s.t.listen()
    const leaving = new AbortController()
    const body = JSON.stringify({ model: 'vm', messages: [{ role: 'user', content: 'hi' }] })
    const headers = { 'content-type': 'application/json' }
    const asked = fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers, signal: leaving.signal })
    await expect.poll(() => s.calls('a') + s.calls('b')).toBe(2)
    leaving.abort()
    await expect(asked).rejects.toThrow()
    await expect.poll(() => [s.up.a, s.up.b].every((up) => up?.requests[0]?.abortedAt !== null)).toBe(true)
    expect((await outcome()).outcome.status).toBe(499)
  })
})

describe('pipeline', () => {
  const steps = [{ target: 'a/m' }, { target: 'b/m', instruction: 'make it rhyme' }, { target: 'c/m' }]

  it('gives each step the text of the one before, and the caller the last', async () => {
    await start('abc', { script: { a: [used('draft', 10, 1)], b: [used('rhyme', 20, 2)], c: [used('done', 30, 3)] } })
    await s.make({ name: 'vm', strategy: 'pipeline', targets: steps })
    const answer = (await (await s.ask('vm', { tools })).json()) as { usage: Record<string, number> }
    expect(contentOf(answer)).toBe('done')
    expect(answer.usage).toMatchObject({ prompt_tokens: 60, completion_tokens: 6 })
    expect(s.up.b?.requests[0]?.json.messages).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'draft' },
      { role: 'user', content: 'make it rhyme' },
    ])
    expect(lastTurn(s.up.c?.requests[0])).toContain('final text only')
    expect([s.up.a?.requests[0]?.json.tools, s.up.c?.requests[0]?.json.tools]).toMatchObject([undefined, [{}]])
    const { ctx, outcome: ended } = await outcome()
    expect(ctx.attempts.map(({ role }) => role)).toEqual(['step', 'step', 'step'])
    expect(ended.steps.map(({ model, usage }) => [model, usage.total])).toEqual([
      ['m', 11],
      ['m', 22],
      ['m', 33],
    ])
  })

  it('streams the last step alone', async () => {
    await start('ab', { script: { a: [used('draft', 10, 1)], b: [used('final', 20, 2)] } })
    await s.make({ name: 'vm', strategy: 'pipeline', targets: targets('ab') })
    const events = await (await s.ask('vm', { stream: true, stream_options: { include_usage: true } })).text()
    expect(events).toContain('"total_tokens":33')
    expect(events.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect([s.up.a?.requests[0]?.stream, s.up.b?.requests[0]?.stream]).toEqual([false, true])
  })

  it('fails with the step that failed, and books those before it', async () => {
    await start('abc', { script: { a: [used('draft', 10, 1)], b: [fail(500)] } })
    await s.make({ name: 'vm', strategy: 'pipeline', targets: targets('abc') })
    const refused = await refusalOf(await s.ask('vm'))
    expect(refused).toMatchObject({ status: 500, code: 'upstream_error' })
    expect(s.calls('c')).toBe(0)
    const { outcome: ended } = await outcome()
    expect(ended.steps.map(({ provider, usage }) => [provider, usage.total])).toEqual([['a', 11]])
  })

  const CALLERS = {
    chat: ['/v1/chat/completions', {}],
    messages: ['/v1/messages', { max_tokens: 50 }],
    responses: ['/v1/responses', {}],
  } as const
  it.each(
    Object.keys(CALLERS) as (keyof typeof CALLERS)[],
  )('answers a %s caller as the failing step does: status, code, wait', async (dialect) => {
    await start('ab')
    await s.make({ name: 'vm', strategy: 'pipeline', targets: targets('ab') })
    const [path, more] = CALLERS[dialect]
    const ask = async (model: string, stream: boolean) => {
      const asked = dialect === 'responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }
      const answer = await s.t.post(path, { model, ...asked, ...more, stream })
      const { error } = (await answer.json()) as { error: { message: string; type: string; code: string } }
      return [answer.status, error.type, error.code, error.message, answer.headers.get('retry-after')]
    }
    for (const step of ['a', 'b'])
      for (const stream of [false, true])
        for (const failing of [
          ...[400, 401, 402, 403, 404, 408, 409, 413, 422, 500, 502, 503, 504, 529].map((status) => fail(status)),
          fail(429, { headers: { 'retry-after': '7' } }),
          reset(),
        ]) {
          const clean = async () => {
            const { data } = (await (await s.t.fetch('/api/providers')).json()) as { data: { id: string }[] }
            for (const { id } of data) await s.t.fetch(`/api/providers/${id}/locks`, { method: 'DELETE' })
            s.up.a?.script(text('draft'))
            s.up.b?.script(text('final'))
            s.up[step]?.script(failing)
          }
          await clean()
          const direct = await ask(`${step}/m`, stream)
          await clean()
          expect(await ask('vm', stream), `${step} ${stream} ${direct}`).toEqual(direct)
        }
  })

  it('502 for a step without output', async () => {
    await start('ab', { script: { a: [text('')] } })
    await s.make({ name: 'vm', strategy: 'pipeline', targets: targets('ab') })
    expect(await refusalOf(await s.ask('vm'))).toMatchObject({ status: 502, code: 'upstream_error' })
    expect(s.calls('b')).toBe(0)
  })
})
