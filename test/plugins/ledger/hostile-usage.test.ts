// Token counts come from an upstream: impossible ones are replaced by an estimate, and no report can make the ledger unreadable.
import { afterEach, describe, expect, it } from 'vitest'
import { raw } from '../../../adapters/testing/script.ts'
import { RENDERERS } from '../../../adapters/testing/scripted-upstream.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { pathAndBody } from '../../pipeline/support/wire.ts'
import { DIALECTS } from '../../support/dialects.ts'
import { type Books, openBooks, PRICE } from './support.ts'

let books: Books
afterEach(() => books.gateway.close())

/** Numbers in each vendor's form, in place of 71, 31 and 17. */
const ANSWER = { text: 'Hello.', usage: { input: 71, output: 31, cacheRead: 17 } }

function answer(dialect: Dialect, said: { input?: string; output?: string; cacheRead?: string }) {
  const body = JSON.stringify(RENDERERS[dialect].json(ANSWER))
  const told = (text: string, number: number, by: string | undefined) =>
    by === undefined ? text : text.replaceAll(new RegExp(`:${number}\\b`, 'g'), `:${by}`)
  // The messages dialect reports the prompt without the tokens read from the cache.
  const prompt = dialect === 'messages' ? 54 : 71
  return raw(200, told(told(told(body, prompt, said.input), 31, said.output), 17, said.cacheRead), {
    headers: { 'content-type': 'application/json' },
  })
}

async function booked(dialect: Dialect, said: Parameters<typeof answer>[1]) {
  books = await openBooks({ upstream: [answer(dialect, said)] })
  const { path, body } = pathAndBody(dialect, `${dialect}/m`, false)
  const response = await books.gateway.post(path, body, { 'x-hold': 'a 900/100000000' })
  expect(response.status).toBe(200)
  await response.text()
  await books.gateway.untilSettled()
  const rows = await books.rows()
  expect(rows).toHaveLength(1)
  return rows[0] as (typeof rows)[number]
}

const IMPOSSIBLE = ['-1', '"12"', '1e300', '9007199254740993', '1000000000001', 'true', '[1]']

describe.each(DIALECTS)('an upstream that speaks %s', (dialect) => {
  it.each(IMPOSSIBLE)('and counts a prompt of %s: that is estimated, and marked', async (input) => {
    const row = await booked(dialect, { input })
    expect(row.estimated).toBe(true)
    expect(row.tokens.input).toBeGreaterThan(0)
    expect(row.tokens.input).toBeLessThan(100)
    expect(row.costNano).toBe(row.tokens.input * PRICE.input + row.tokens.output * PRICE.output)
  })

  it('and counts parts of tokens: they are whole ones, and cost as such', async () => {
    const { tokens, costNano, estimated } = await booked(dialect, { output: '30.2' })
    expect({ output: tokens.output, estimated }).toEqual({ output: 31, estimated: false })
    expect(costNano).toBe(71 * PRICE.input + 31 * PRICE.output)
    expect(await books.balance('a')).toEqual({ spent: costNano, reserved: 0 })
  })

  it('and reads more from its cache than there was: no more than the prompt', async () => {
    const { tokens } = await booked(dialect, { cacheRead: '900' })
    expect(tokens.cacheRead).toBeLessThanOrEqual(tokens.input)
  })
})
