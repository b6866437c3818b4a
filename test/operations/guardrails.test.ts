// Guardrails on operations: inputs of each, and the texts that come back.
import { afterEach, describe, expect, it } from 'vitest'
import type { Page } from '../../core/types/ports/web-page.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const EMAIL = 'ada@example.com'

async function start(settings: Record<string, unknown>): Promise<void> {
  v = await vendors(['openai', 'cohere', 'mistral', 'tavily'], { config: { settings } as never })
}
const ask = async (path: string, body: object) => {
  const response = await v.t.post(path, body)
  return { status: response.status, text: await response.text() }
}

const CALLS: [string, object][] = [
  ['/v1/embeddings', { model: 'openai/e', input: ['hi', `write to ${EMAIL}`] }],
  ['/v1/rerank', { model: 'cohere/r', query: `who is ${EMAIL}`, documents: [EMAIL, { text: EMAIL }] }],
  ['/v1/moderations', { model: 'openai/m', input: EMAIL }],
  ['/v1/images/generations', { model: 'openai/i', prompt: `a card for ${EMAIL}` }],
  ['/v1/audio/speech', { model: 'openai/s', input: EMAIL, voice: 'alloy' }],
  ['/v1/search', { model: 'tavily/search', query: EMAIL }],
]

describe('personal data in the input', () => {
  it.each(CALLS)('%s: redacted before it is sent', async (path, body) => {
    await start({ 'guardrails.enabled': true, 'guardrails.pii.mode': 'redact' })
    expect((await ask(path, body)).status).toBe(200)
    expect(v.vendor.requests[0]?.text).not.toContain(EMAIL)
    expect(v.vendor.requests[0]?.text).toMatch(/EMAIL/i)
  })

  it.each(CALLS)('%s: refused, and nothing is sent', async (path, body) => {
    await start({ 'guardrails.enabled': true, 'guardrails.pii.mode': 'block' })
    const { status, text } = await ask(path, body)
    expect({ status, text }).toMatchObject({ status: 400 })
    expect(v.vendor.requests).toHaveLength(0)
  })

  it.each(CALLS)('%s: unchanged without guardrails', async (path, body) => {
    await start({})
    expect((await ask(path, body)).status).toBe(200)
    expect(v.vendor.requests[0]?.text).toContain(EMAIL)
  })
})

describe('prompts of tokens, which no detector can read', () => {
  const TOKENS = [
    ['/v1/embeddings', 'input', { model: 'openai/e', input: [1, 2, 3] }],
    ['/v1/embeddings', 'input', { model: 'openai/e', input: [[1, 2], [3]] }],
    ['/v1/completions', 'prompt', { model: 'openai/gpt-3.5-turbo-instruct', prompt: [1, 2, 3] }],
    ['/v1/completions', 'prompt', { model: 'openai/gpt-3.5-turbo-instruct', prompt: [[1, 2], [3]] }],
  ] as const
  const refusal = (param: string) => ({
    status: 400,
    error: { param, code: 'guardrail_blocked', message: expect.stringContaining('tokens') },
  })
  const asked = async (path: string, body: object) => {
    const { status, text } = await ask(path, body)
    return { status, ...JSON.parse(text) }
  }
  const noted = async () => {
    await v.t.untilSettled(1)
    return v.t.settled[0]?.ctx.notes?.guardrails
  }

  it.each(TOKENS)('%s, %s: refused when a rule blocks, and nothing is sent', async (path, param, body) => {
    await start({ 'guardrails.enabled': true, 'guardrails.secrets.mode': 'block' })
    expect(await asked(path, body)).toMatchObject(refusal(param))
    expect(v.vendor.requests).toHaveLength(0)
    expect(await noted()).toEqual([{ detector: 'tokens', entity: 'unread', action: 'block', direction: 'input', count: 1 }])
  })

  it.each(TOKENS)('%s, %s: noted when no rule blocks', async (path, _param, body) => {
    await start({ 'guardrails.enabled': true, 'guardrails.pii.mode': 'redact' })
    expect((await asked(path, body)).status).toBe(200)
    expect(await noted()).toEqual([{ detector: 'tokens', entity: 'unread', action: 'log', direction: 'input', count: 1 }])
  })

  it.each(TOKENS)('%s, %s: as the setting says, and never without a policy', async (path, param, body) => {
    await start({ 'guardrails.enabled': true, 'guardrails.secrets.mode': 'block', 'guardrails.tokens.mode': 'log' })
    expect((await asked(path, body)).status).toBe(200)
    await v.close()
    await start({ 'guardrails.enabled': true, 'guardrails.pii.mode': 'log', 'guardrails.tokens.mode': 'block' })
    expect(await asked(path, body)).toMatchObject(refusal(param))
    await v.close()
    await start({ 'guardrails.tokens.mode': 'block' })
    expect((await asked(path, body)).status).toBe(200)
    expect(await noted()).toBeUndefined()
  })

  it('texts are read as before', async () => {
    await start({ 'guardrails.enabled': true, 'guardrails.secrets.mode': 'block' })
    expect((await asked('/v1/completions', { model: 'openai/gpt-3.5-turbo-instruct', prompt: ['a', 'b'] })).status).toBe(200)
    expect(await noted()).toBeUndefined()
  })
})

describe('the texts that come back', () => {
  const document = { type: 'document_url', document_url: 'https://example.com/a.pdf' }

  it('OCR: redacted in each page', async () => {
    await start({ 'guardrails.enabled': true, 'guardrails.keywords.mode': 'redact', 'guardrails.keywords.deny': ['Page'] })
    const { status, text } = await ask('/v1/ocr', { model: 'mistral/o', document })
    expect({ status, text }).toMatchObject({ status: 200, text: expect.not.stringContaining('Page') })
    expect(JSON.parse(text).pages).toHaveLength(2)
  })

  it('search results and transcriptions: refused, also a stream', async () => {
    await start({
      'guardrails.enabled': true,
      'guardrails.keywords.mode': 'block',
      'guardrails.keywords.deny': ['Result', 'Hello'],
    })
    expect((await ask('/v1/search', { model: 'tavily/search', query: 'x' })).text).not.toContain('Result')
    for (const stream of ['true', 'false']) {
      const form = new FormData()
      form.set('model', 'openai/w')
      form.set('stream', stream)
      form.set('file', new Blob(['x']), 'a.mp3')
      const response = await v.t.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })
      expect(await response.text()).not.toContain('Hello')
    }
  })

  it.each([
    ['redact', 200],
    ['block', 400],
  ] as const)('fetched pages, their titles and the texts of their links: %s', async (mode, status) => {
    const page: Page = {
      finalUrl: 'https://site.example/',
      status: 200,
      contentType: 'text/html',
      title: `About ${EMAIL}`,
      content: `Write to ${EMAIL}.`,
      cut: false,
      links: [{ text: `Ask ${EMAIL}`, url: 'https://site.example/ask' }],
    }
    v = await vendors(['openai'], {
      ports: { readPage: async () => page },
      config: {
        settings: { 'guardrails.enabled': true, 'guardrails.pii.mode': mode, 'guardrails.pii.output': true },
      } as never,
    })
    const answer = await ask('/v1/web/fetch', { url: 'https://site.example/', include_links: true })
    expect(answer).toMatchObject({ status, text: expect.not.stringContaining(EMAIL) })
    if (status === 200)
      expect(JSON.parse(answer.text)).toMatchObject({ length: expect.any(Number), links: [{ url: page.links[0]?.url }] })
  })
})
