// The raw texts of many calls in one message are found in one pass, not in one pass each.
import { expect, it } from 'vitest'
import { findSpan, rawReader } from '../../../core/json/json-path.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'

const CALLS = 20_000
const call = `{"type":"tool_use","input":{"n":12345678901234567890,"x":"${'y'.repeat(100)}"}}`
const text = `{"messages":[{"role":"assistant","content":[${`${call},`.repeat(CALLS - 1)}${call}]}]}`
const args = call.slice(call.indexOf(':{') + 1, -1)

const reader = rawReader(() => text)

it.each([
  ['of a body', () => wireBody(text)],
  ['of a frame', () => ({ raw: (path: string) => reader(...path.split('.')) })],
])('%s', (_, made) => {
  const body = made()
  const started = performance.now()
  for (let at = 0; at < CALLS; at++) expect(body.raw(`messages.0.content.${at}.input`) === args).toBe(true)
  const all = performance.now() - started
  const bytes = encodeUtf8(text)
  const again = performance.now()
  for (let i = 0; i < 5; i++) findSpan(bytes, 0, ['messages', '0', 'content', String(CALLS - 1), 'input'])
  // A pass for each call takes as long as thousands of these.
  expect(all).toBeLessThan(100 * (performance.now() - again) + 2000)
})
