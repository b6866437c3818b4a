// An upstream that fails before any content: the SDK throws, with the vendor's message, the gateway's code and no credential.
import { expect } from 'vitest'
import { broken, fail } from '../../../adapters/testing/script.ts'
import { ask, user } from '../neutral.ts'
import type { Feature } from './feature.ts'

const ASKED = ask({ turns: [user('Hello?')] })

export const error: Feature = {
  id: 'error',
  title: 'upstream error before content',
  async run(cell) {
    const overloaded = await cell.send(ASKED, fail(503, { message: 'The vendor takes a nap.' }))
    expect(overloaded.observed.answer).toBeNull()
    expect(overloaded.observed.failure).toMatchObject({ status: 503, message: 'The vendor takes a nap.', code: 'upstream_error' })

    const limited = await cell.send(ASKED, fail(429, { message: 'Slow down.', headers: { 'retry-after': '7' } }))
    expect(limited.observed.failure).toMatchObject({ status: 429, retryAfter: '7' })
    expect(limited.observed.failure?.message).toContain('Slow down.')

    const wrong = await cell.send(ASKED, fail(400, { message: 'This prompt is not to my taste.' }))
    expect(wrong.observed.failure).toMatchObject({ status: 400, message: 'This prompt is not to my taste.' })

    // The caller's key is valid; the vendor refuses the gateway's.
    const refused = await cell.send(ASKED, fail(401, { message: 'Incorrect API key: sk-upstream.' }))
    expect(refused.observed.failure).toMatchObject({ status: 502, code: 'upstream_error' })
    expect(refused.observed.raw).not.toContain('sk-upstream')

    if (!cell.stream) return
    const inside = await cell.send(ASKED, broken({ text: 'never said' }, 0, { message: 'Broken before the first word.' }))
    expect(inside.observed.answer).toBeNull()
    expect(inside.observed.failure?.status).toBeGreaterThanOrEqual(500)
    expect(inside.observed.failure?.message).toContain('Broken before the first word.')
  },
}
