// Custom tool calls in the stream that a chat caller reads: OpenAI's own stream helper keeps their name and input.
import fc from 'fast-check'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { expect, it } from 'vitest'
import { responsesDialect } from '../../../../adapters/dialects/responses/index.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import type { JsonObject, Tool } from '../../../../core/types/request/canonical.ts'
import { answerOf, streamEvents, warningCodec } from '../../../support/dialects.ts'
import { callsOf, codec, deltaOf, driver, encodeEvents, framesOf, freeze, request } from './support.ts'

interface Custom {
  name: string
  input: string
}

/** `whole`: the item opens with its whole input and has no deltas, as xAI sends it. */
function upstream(calls: readonly Custom[], whole: boolean): string {
  const events: JsonObject[] = [{ type: 'response.created', response: { id: 'resp_1', model: 'm', created_at: 1 } }]
  for (const [index, { name, input }] of calls.entries()) {
    const item = { type: 'custom_tool_call', id: `ctc_${index}`, call_id: `call_${index}`, name, status: 'completed' }
    const at = { item_id: item.id, output_index: index }
    events.push({ type: 'response.output_item.added', output_index: index, item: { ...item, input: whole ? input : '' } })
    if (!whole) for (const delta of input) events.push({ type: 'response.custom_tool_call_input.delta', ...at, delta })
    events.push({ type: 'response.custom_tool_call_input.done', ...at, input })
    events.push({ type: 'response.output_item.done', output_index: index, item: { ...item, input } })
  }
  events.push({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } })
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function translated(calls: readonly Custom[], whole: boolean, tools: Tool[]): JsonObject[] {
  const on = warningCodec(responsesDialect, { provider: 'xai', model: 'm', caller: 'chat' })
  const events = streamEvents(responsesDialect, upstream(calls, whole), on)
  return framesOf(encodeEvents(events, codec({ upstream: 'responses', request: freeze(request({ tools })) }))).frames
}

function responseOf(calls: readonly Custom[]): CanonicalResponse {
  const body = {
    id: 'resp_1',
    status: 'completed',
    output: calls.map((call, index) => ({ type: 'custom_tool_call', call_id: `call_${index}`, ...call })),
  }
  return answerOf('responses', JSON.stringify(body), false)
}

const NAMES = ['apply_patch', 'x_keyword_search', 'shell']
const input = fc.oneof(fc.string({ maxLength: 12 }), fc.constant('*** Begin "x"\\\n👋'))
const customs = fc.array(fc.record({ name: fc.constantFrom(...NAMES), input }), { minLength: 1, maxLength: 3 })

it('a caller without custom tools gets functions of one input, which the SDK gives with their name', async () => {
  await fc.assert(
    fc.asyncProperty(customs, fc.boolean(), async (calls, whole) => {
      const lines = translated(calls, whole, []).map((frame) => `${JSON.stringify(frame)}\n`)
      const stream = ChatCompletionStream.fromReadableStream(new Blob(lines).stream())
      const message = (await stream.finalChatCompletion()).choices[0]?.message
      const wanted = calls.map(({ name, input }, index) => ({
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify({ input }) },
      }))
      expect(message?.tool_calls).toMatchObject(wanted)
      const text = driver.encodeResponse(freeze(responseOf(calls)), codec({ upstream: 'responses' }))
      expect(JSON.parse(text).choices[0].message.tool_calls).toEqual(wanted)
    }),
    { numRuns: 50 },
  )
})

it('a caller that declares the custom tool gets its calls as such, the name once', () => {
  fc.assert(
    fc.property(customs, fc.boolean(), (calls, whole) => {
      const frames = translated(
        calls,
        whole,
        NAMES.map((name) => ({ t: 'custom', name })),
      )
      const got: { name?: string; input: string; type?: unknown }[] = []
      for (const frame of frames) {
        for (const call of callsOf(deltaOf(frame as never)) as unknown as { index: number; type?: unknown; custom: Custom }[]) {
          const state = got[call.index] ?? { input: '' }
          got[call.index] = state
          state.type ??= call.type
          state.name = (state.name ?? '') + (call.custom.name ?? '')
          state.input += call.custom.input
        }
      }
      expect(got).toEqual(calls.map((call) => ({ ...call, type: 'custom' })))
    }),
    { numRuns: 50 },
  )
})
