// The client leaves after the upstream has sent j frames, from every dialect to every upstream: exactly the upstream's own count is
// booked.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { RENDERERS } from '../../../adapters/testing/scripted-upstream.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { pathAndBody } from '../../pipeline/support/wire.ts'
import { DIALECTS } from '../../support/dialects.ts'
import { type Books, openBooks, PRICE } from './support.ts'

/** Tokens of four bytes, each a separate piece, so that the frames show how many were sent. */
const WORDS = Array.from({ length: 8 }, (_, i) => `w${String(i).padStart(3, '0')}`)
const ANSWER = { text: WORDS.join(''), usage: { input: 33, output: WORDS.length } }
const framesOf = (dialect: Dialect) => RENDERERS[dialect].frames(ANSWER)
const wordsIn = (text: string) => WORDS.filter((word) => text.includes(word)).length

let books: Books
let url: string
beforeAll(async () => {
  books = await openBooks()
  ;({ url } = await books.gateway.listen())
})
afterAll(() => books.gateway.close())

/** Reads until `words` have arrived, then leaves. */
async function leave(caller: Dialect, upstream: Dialect, words: number): Promise<void> {
  const { path, body } = pathAndBody(caller, `${upstream}/m`, true)
  const controller = new AbortController()
  const asked = books.gateway.upstream.requests.length
  const answering = fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    signal: controller.signal,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  answering.catch(() => {})
  while (books.gateway.upstream.requests.length === asked) await sleep(1)
  if (words > 0) {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of (await answering).body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      if (wordsIn(text) === words) break
    }
  }
  // Frames without a word may also be on their way.
  await sleep(5)
  controller.abort()
}

describe.each(DIALECTS)('%s upstream', (upstream) => {
  it.each(DIALECTS)('asked in %s', { timeout: 60_000 }, async (caller) => {
    const frames = framesOf(upstream)
    const last = frames.findIndex((_, index) => wordsIn(frames.slice(0, index + 1).join('')) === WORDS.length)
    for (let sent = 0; sent <= last + 1; sent++) {
      const words = wordsIn(frames.slice(0, sent).join(''))
      const before = books.gateway.settled.length
      books.gateway.upstream.script(reply(ANSWER, { stallAfter: sent }))
      await leave(caller, upstream, words)
      await books.gateway.untilSettled(before + 1)
      const { ctx, outcome } = books.gateway.settled[before] as (typeof books.gateway.settled)[number]
      const where = `${caller} → ${upstream} after ${sent} frames`
      expect([where, outcome.status, outcome.usage.outputTotal]).toEqual([where, 499, words])
      const row = (await books.rows()).find(({ requestId }) => requestId === ctx.id)
      expect([where, row?.status, row?.tokens.output]).toEqual([where, 499, words])
      if (words === 0) continue
      // The prompt is the upstream's count when it comes early, otherwise an estimate.
      const early = upstream === 'messages' || upstream === 'generate_content'
      if (early) expect([where, row?.tokens.input]).toEqual([where, 33])
      else expect(row?.estimated, where).toBe(true)
      expect(row?.costNano, where).toBe((row?.tokens.input ?? 0) * PRICE.input + words * PRICE.output)
    }
  })
})
