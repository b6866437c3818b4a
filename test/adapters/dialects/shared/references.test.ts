// The AI SDK's second step refers to items of the first one by id, which only the vendor knows.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, reply, text } from '../../../../adapters/testing/index.ts'

// Without stored turns, the gateway knows no items.
const t = await createTestGateway({ env: { RESPONSES_STATE: 'false' } })
const { port } = await t.listen()
afterAll(() => t.close())

const now = tool({ inputSchema: z.object({}), execute: async () => 'noon' })

function twoSteps(target: string, store: boolean) {
  t.upstream.script(
    reply({ text: 'I look at the clock.', toolCalls: [{ id: 'call_1', name: 'now', args: '{}' }] }),
    text('It is noon.'),
  )
  const client = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none' })
  return generateText({
    model: client.responses(`${target}/m`),
    prompt: 'What time is it?',
    tools: { now },
    stopWhen: stepCountIs(2),
    maxRetries: 0,
    providerOptions: { openai: { store } },
  })
}

it.each([
  'chat',
  'messages',
  'generate_content',
])('%s: items by reference are refused, and the answer says what helps', async (target) => {
  await expect(twoSteps(target, true)).rejects.toThrow(
    /`item_reference`.*Send the item itself, as clients do with `store: false`/,
  )
  expect((await twoSteps(target, false)).text).toBe('It is noon.')
})
