// What a filter may do with requests and whole answers, and which facts it receives about them.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createTestGateway, text } from '../../../adapters/testing/index.ts'
import { ask, DIALECTS } from '../../adapters/node/support.ts'
import { answerOf, saidBy } from '../../support/dialects.ts'
import { assemble, guest, says, stars, when } from './guests.ts'
import { chat, filteredOnes } from './support.ts'

const filtered = filteredOnes()

const USAGE = { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null }
const RESPONSE = {
  id: 'filter_1',
  created: 1_767_225_600,
  model: 'm',
  choices: [{ index: 0, parts: [{ t: 'text', text: 'From the filter.' }], finish: 'stop', nativeFinish: 'stop' }],
  usage: USAGE,
  ext: {},
}
const request = (words: string, more: object = {}) => ({
  model: 'chat/m',
  stream: false,
  source: 'chat',
  system: [],
  messages: [{ role: 'user', parts: [{ t: 'text', text: words }] }],
  tools: [],
  sampling: {},
  headers: {},
  ext: {},
  ...more,
})

describe('without GATEWAY_PLUGIN_PATH', () => {
  it('the plugin takes part in nothing', async () => {
    const t = await createTestGateway()
    const taking = t.gateway.hooks.filter(({ handlers }) => handlers.some(({ plugin }) => plugin === 'wasm-filters'))
    expect(taking).toEqual([])
    await t.close()
  })
})

describe('on_request', () => {
  it('registers only the hooks whose exports are there', async () => {
    const { t } = await filtered([await guest({ exports: { on_request: says('') } })])
    const taking = t.gateway.hooks.filter(({ handlers }) => handlers.some(({ plugin }) => plugin === 'wasm-filters'))
    expect(taking.map(({ hook }) => hook).sort()).toEqual(['answer', 'ready', 'request'])
  })

  it('goes on after no output and after `continue`, with the caller’s own bytes', async () => {
    for (const answer of ['', { action: 'continue' }]) {
      const { t } = await filtered([await guest({ exports: { on_request: says(answer) } })])
      const body = '{"model":"chat/m","messages":[{"role":"user","content":"Hi"}],"unknown":12345678901234567890}'
      expect((await t.post('/v1/chat/completions', body)).status).toBe(200)
      expect(t.upstream.requests[0]?.text).toContain('12345678901234567890')
    }
  })

  it('denies with its status, message and code, in every dialect', async () => {
    const deny = { action: 'deny', status: 422, message: 'Not like this.', code: 'not_so' }
    const { t } = await filtered([await guest({ exports: { on_request: when('forbidden', says(deny)) } })])
    for (const dialect of DIALECTS) {
      const { path, body } = ask(dialect, `${dialect}/m`, { text: 'a forbidden thing' })
      const response = await t.post(path, body)
      expect(response.status, dialect).toBe(422)
      expect(await response.text(), dialect).toContain('Not like this.')
      const fine = ask(dialect, `${dialect}/m`, { text: 'a fine thing' })
      expect((await t.post(fine.path, fine.body)).status, dialect).toBe(200)
    }
    expect(t.upstream.requests).toHaveLength(4)
  })

  it.each([
    [200, 400],
    [302, 400],
    [503, 499],
    [403, 403],
  ])('a denial with status %i is one with %i', async (status, expected) => {
    const { t } = await filtered([await guest({ exports: { on_request: says({ action: 'deny', status, message: 'No.' }) } })])
    const response = await t.post('/v1/chat/completions', chat('Hi'))
    expect(response.status).toBe(expected)
    expect(await response.json()).toMatchObject({ error: { code: 'filter_denied', message: 'No.' } })
  })

  it('replaces what the model is asked', async () => {
    const answer = { action: 'replace', request: request('Say something nice.', { maxTokens: 7 }) }
    const { t } = await filtered([await guest({ exports: { on_request: says(answer) } })])
    expect((await t.post('/v1/chat/completions', chat('Say something rude.', { temperature: 1 }))).status).toBe(200)
    const sent = t.upstream.requests[0]!.json
    expect(sent.messages).toEqual([{ role: 'user', content: 'Say something nice.' }])
    expect(JSON.stringify(sent)).not.toContain('temperature')
  })

  it.each([
    ['model', { model: 'messages/other' }],
    ['stream', { stream: true }],
    ['source', { source: 'messages' }],
    ['headers', { headers: { anthropicBeta: ['x\r\nauthorization: y'] } }],
  ])('may not change `%s`: the request is refused', async (name, change) => {
    const answer = { action: 'replace', request: request('Hi', change) }
    const { t, log } = await filtered([await guest({ exports: { on_request: says(answer) } })])
    const response = await t.post('/v1/chat/completions', chat('Hi'))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { code: 'plugin_failed' } })
    expect(JSON.stringify(log.lines)).toContain(`request.${name}`)
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('answers by itself, whole and streamed, in every dialect', async () => {
    const { t } = await filtered([await guest({ exports: { on_request: says({ action: 'respond', response: RESPONSE }) } })])
    for (const dialect of DIALECTS)
      for (const stream of [false, true]) {
        const { path, body } = ask(dialect, `${dialect}/m`, { stream })
        const response = await t.post(path, body)
        expect(response.status, dialect).toBe(200)
        expect(saidBy(answerOf(dialect, await response.text(), stream)).text, `${dialect} ${stream}`).toBe('From the filter.')
      }
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('takes part in the counting of tokens, but cannot answer there', async () => {
    const deny = { action: 'deny', status: 403, message: 'Not even counted.' }
    const count = { model: 'messages/m', messages: [{ role: 'user', content: 'Count me' }] }
    const denying = await filtered([await guest({ exports: { on_request: when('Count me', says(deny)) } })])
    expect((await denying.t.post('/v1/messages/count_tokens', count)).status).toBe(403)
    const answering = await filtered([await guest({ exports: { on_request: says({ action: 'respond', response: RESPONSE }) } })])
    expect((await answering.t.post('/v1/messages/count_tokens', count)).status).toBe(503)
  })

  it('what each filter did is noted for the record', async () => {
    const manifest = (name: string) => ({ abi: 1, name, version: '1' })
    const answer = { action: 'replace', request: request('Say something nice.') }
    const first = await guest({ manifest: manifest('first'), exports: { on_request: says(answer) } })
    const second = await guest({ manifest: manifest('second'), exports: { on_request: says('') } })
    const third = await guest({ manifest: manifest('third'), exports: { on_request: { code: 'unreachable' } } })
    const { t } = await filtered([first, second, third], { failOpen: true })
    expect((await t.post('/v1/chat/completions', chat('Hi'))).status).toBe(200)
    await t.untilSettled()
    expect(t.settled[0]?.ctx.notes).toMatchObject({ wasm_filters: { first: 'replace', third: 'failed' } })
  })

  it('sees the headers that its manifest names, and no others', async () => {
    const deny = { action: 'deny', status: 403, message: 'Not this team.' }
    const module = (headers: string[]) =>
      guest({
        manifest: { abi: 1, name: 'teams', version: '1', headers },
        exports: { on_request: when('"x-team":"search"', says(deny)) },
      })
    const named = await filtered([await module(['x-team'])])
    const blind = await filtered([await module(['x-other'])])
    const headers = { 'x-team': 'search', authorization: 'Bearer sk-secret' }
    expect((await named.t.post('/v1/chat/completions', chat('Hi'), headers)).status).toBe(403)
    expect((await named.t.post('/v1/chat/completions', chat('Hi'))).status).toBe(200)
    expect((await blind.t.post('/v1/chat/completions', chat('Hi'), headers)).status).toBe(200)
  })

  it('never sees what callers prove themselves by', async () => {
    const trap = { code: 'unreachable' }
    const { t } = await filtered([await guest({ exports: { on_request: when('sk-secret', trap) } })])
    const headers = { authorization: 'Bearer sk-secret', 'x-api-key': 'sk-secret', cookie: 'sk-secret' }
    const response = await t.post('/v1/chat/completions', chat('Hi'), headers)
    expect(response.status).not.toBe(503)
  })

  it('is asked in the order of the path; who denies ends it', async () => {
    const deny = (message: string) => says({ action: 'deny', status: 400, message })
    const first = await guest({ exports: { on_request: when('one', deny('The first.')) } })
    const second = await guest({ exports: { on_request: deny('The second.') } })
    const { t } = await filtered([first, second])
    const said = async (words: string) => (await t.post('/v1/chat/completions', chat(words))).text()
    expect(await said('one')).toContain('The first.')
    expect(await said('two')).toContain('The second.')
  })
})

describe('on_response', () => {
  const replaced = (usage: object) => ({
    action: 'replace',
    response: { ...RESPONSE, usage },
  })
  const reported = { inputTotal: 12, cacheRead: 0, cacheWrite: 0, outputTotal: 7, total: 19, reasoning: 0, estimated: false }

  it('denies an answer', async () => {
    const deny = { action: 'deny', status: 451, message: 'The answer is not for you.' }
    const module = await guest({ exports: { on_response: when('secret plan', says(deny)) } })
    const { t } = await filtered([module], { upstream: [text('The secret plan is …'), text('Nothing.')] })
    const refused = await t.post('/v1/chat/completions', chat('Tell me'))
    expect(refused.status).toBe(451)
    expect(await refused.text()).not.toContain('plan is')
    expect((await t.post('/v1/chat/completions', chat('Tell me'))).status).toBe(200)
  })

  it('replaces what callers read, in every dialect', async () => {
    const { t } = await filtered([await guest({ exports: { on_response: stars('response') } })], {
      upstream: [text('card ####!')],
    })
    for (const dialect of DIALECTS) {
      const { path, body } = ask(dialect, `${dialect}/m`)
      const response = await t.post(path, body)
      expect(saidBy(answerOf(dialect, await response.text(), false)).text, dialect).toBe('card ****!')
    }
  })

  it('may not change what was used', async () => {
    const module = await guest({ exports: { on_response: says(replaced({ ...reported, inputTotal: 0, raw: null })) } })
    const { t, log } = await filtered([module])
    expect((await t.post('/v1/chat/completions', chat('Hi'))).status).toBe(503)
    expect(JSON.stringify(log.lines)).toContain('response.usage')
  })
})

describe('the example', () => {
  const module = readFileSync('examples/wasm-filter/filter.wasm')

  it('is what its text says', async () => {
    const text = readFileSync('examples/wasm-filter/filter.wat', 'utf8')
    expect(Buffer.from(await assemble(text)).equals(module)).toBe(true)
  })

  it('refuses the word that its configuration names, in any case, and nothing else', async () => {
    const { t } = await filtered([module], { config: { word: 'BlueBird' } })
    const refused = await t.post('/v1/chat/completions', chat('Is a bluebird blue?'))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: 'forbidden_word' } })
    expect((await t.post('/v1/chat/completions', chat('Is a blue bird blue?'))).status).toBe(200)
  })
})
