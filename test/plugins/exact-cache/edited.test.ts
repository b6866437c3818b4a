// Requests that a guardrail has redacted: the key covers the request as sent, not as the caller wrote it.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask, bodyOf, CACHED, HOUR, put } from './support.ts'

let t: TestGateway
beforeEach(async () => {
  t = await createTestGateway({ env: HOUR, upstream: [text('noted')] })
  await put(t, { guardrails: { enabled: true, pii: { mode: 'redact' } } })
})
afterEach(() => t.close())

const noted = async (dialect: Dialect, prompt: string, more: object = {}, headers: Record<string, string> = {}) =>
  (await ask(t, dialect, bodyOf(dialect, prompt, more), headers)).cache

it.each(CACHED)('%s: what became the same has one answer, whatever it is filed under', async (dialect) => {
  expect(await noted(dialect, 'Mail bob@example.com', { metadata: { user_id: 'a' } })).toBe('miss')
  expect(await noted(dialect, 'Mail eve@example.com', { metadata: { user_id: 'b' } })).toBe('hit')
  expect(await noted(dialect, 'Mail eve@example.com or bob@example.com')).toBe('miss')
  expect(await noted(dialect, 'Mail bob@example.com', { temperature: 0.5 })).toBe('miss')
  expect(await noted(dialect, 'Mail bob@example.com', { foo: 1 })).toBe('miss')
  // Its text equals the other request after redaction.
  expect(await noted(dialect, 'Mail [EMAIL_REDACTED]')).toBe('miss')
})

it('members that a caller has left out stay out', async () => {
  const headers = { 'helicone-cache-ignore-keys': 'user, top_p, foo', 'idempotency-key': '1' }
  expect(await noted('chat', 'Mail bob@example.com', { user: 'a', top_p: 0.1, foo: 1 }, headers)).toBe('miss')
  const others = { ...headers, 'idempotency-key': '2' }
  expect(await noted('chat', 'Mail bob@example.com', { user: 'b', top_p: 0.2, foo: 2 }, others)).toBe('hit')
  expect(await noted('chat', 'Mail bob@example.com', { user: 'b', top_p: 0.2, foo: 2, seed: 1 }, others)).toBe('miss')
})
