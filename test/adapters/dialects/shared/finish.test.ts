import { expect, it } from 'vitest'
import { settleFinish } from '../../../../adapters/dialects/shared/finish.ts'

it.each([
  ['stop', true, 'tool_calls'],
  ['other', true, 'tool_calls'],
  ['tool_calls', true, 'tool_calls'],
  ['length', true, 'length'],
  ['content_filter', true, 'content_filter'],
  ['tool_calls', false, 'stop'],
  ['other', false, 'other'],
  ['stop', false, 'stop'],
] as const)('2.5 post-rule: %s with a client tool call (%s) is %s', (finish, call, settled) => {
  expect(settleFinish(finish, call)).toBe(settled)
})
