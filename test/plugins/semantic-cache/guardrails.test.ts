// Guardrails and caches: a blocked request stays blocked although an answer is stored, answers under other rules are not returned, and
// redacted text reaches neither an embedder nor a cache.
import { afterEach, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { ask as asking, bodyOf, HOUR, put } from '../exact-cache/support.ts'
import { type Site, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

const MAIL = 'jane.roe@example.com'

async function ask(prompt: string) {
  const seen = await asking(s.t, 'chat', bodyOf('chat', prompt))
  await turns()
  return seen
}

const keywords = (mode: string, deny: string[]) =>
  put(s.t, { guardrails: { enabled: true, keywords: { mode, deny, output: false } } })

it('a prompt that is blocked is refused, though both caches hold its answer', async () => {
  s = await site({ env: HOUR })
  await ask('q')
  expect((await ask('q')).type).toBe('exact')
  await keywords('block', ['q'])
  expect(await ask('q')).toMatchObject({ status: 400, cache: 'miss' })
  await keywords('block', ['nothing of the kind'])
  expect((await ask('q')).cache).toBe('miss')
  expect((await ask('q')).type).toBe('exact')
})

it('other rules are another scope for the semantic cache as well', async () => {
  s = await site()
  await ask('q')
  expect((await ask('q')).type).toBe('semantic')
  await keywords('log', ['unrelated'])
  expect((await ask('q')).cache).toBe('miss')
  expect((await ask('q')).type).toBe('semantic')
})

it('what was redacted is embedded redacted', async () => {
  s = await site({ upstream: [text('noted')] })
  await put(s.t, { guardrails: { enabled: true, pii: { mode: 'redact', entities: ['email'] } } })
  await ask(`Write to ${MAIL} today`)
  expect(s.embed.asked).toHaveLength(1)
  expect(JSON.stringify([s.embed.asked, s.up.requests.map(({ json }) => json)])).not.toContain(MAIL)
})

it('an answer into which originals were put back is kept by neither cache', async () => {
  s = await site({ env: HOUR, upstream: [text('noted')] })
  await put(s.t, { guardrails: { enabled: true, pii: { mode: 'redact', entities: ['email'], restore: true } } })
  for (let i = 0; i < 2; i++) expect((await ask(`Write to ${MAIL} today`)).cache).toBe('miss')
  expect(s.up.requests).toHaveLength(2)
  expect(s.embed.asked).toEqual([])
})
