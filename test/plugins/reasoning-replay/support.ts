// A turn that calls a tool with a thought, and the next turn, in which the caller sends back only the call.
import { expect } from 'vitest'
import { reply, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { answerOf } from '../../support/dialects.ts'
import { type PlainCall, toolTurn } from '../../support/tool-history.ts'

export const THOUGHT = 'They ask for Rome. I need the tool for that.'
export const CALLERS = ['chat', 'messages', 'responses'] as const
export type Caller = (typeof CALLERS)[number]

export const THOUGHTFUL = reply({
  reasoning: { text: THOUGHT, signature: 'EqQBsigned' },
  toolCalls: [{ id: 'call_rome', name: 'weather', args: '{"city": "Rome"}' }],
})

export interface Asking {
  model?: string
  stream?: boolean
  headers?: Record<string, string>
}

/** Returns the calls of the answer. */
export async function called(
  t: TestGateway,
  caller: Caller,
  { model = 'chat/kimi', stream = false, headers = {} }: Asking = {},
): Promise<PlainCall[]> {
  t.upstream.script(THOUGHTFUL)
  const { path, body } = toolTurn(caller, model, { stream })
  const response = await t.post(path, body, headers)
  const answer = await response.text()
  expect(response.status, answer).toBe(200)
  const parts = answerOf(caller, answer, stream).choices.flatMap((choice) => choice.parts)
  return parts.flatMap((part): PlainCall[] => (part.t === 'tool_call' ? [part] : []))
}

/** Returns the assistant turn of the history in the upstream's request. */
export async function replayed(
  t: TestGateway,
  caller: Caller,
  calls: readonly PlainCall[],
  asking: Asking = {},
): Promise<Record<string, unknown>> {
  const { path, body } = toolTurn(caller, asking.model ?? 'chat/kimi', { calls })
  t.upstream.script(text('done'))
  const response = await t.post(path, body, asking.headers)
  expect(response.status, await response.text()).toBe(200)
  const { messages } = t.upstream.requests.at(-1)!.json as { messages: Record<string, unknown>[] }
  return messages.find(({ role }) => role === 'assistant')!
}

export async function switched(t: TestGateway, enabled: boolean): Promise<void> {
  const response = await t.fetch('/api/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reasoning_replay: { enabled } }),
  })
  expect(response.status).toBe(200)
}
