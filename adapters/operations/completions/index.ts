// POST /v1/completions. The codecs serve vendors that have it; the plugin `completions` makes chat calls for all others.
import { z } from 'zod'
import { byteLength } from '../../../core/text/bytes.ts'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { completedTexts, decodeCompletions, encodeCompletions, promptTexts } from './caller.ts'
import { mistralCompletions, openaiCompletions } from './vendors.ts'

const token = z.int().min(0)

export const completions: OperationDriver<'completions'> = {
  id: 'completions',
  connections: 'all',
  routes: [
    {
      path: '/v1/completions',
      bodyLimit: 'default',
      models: 'text',
      summary: 'Continues a text, in the legacy format of OpenAI.',
      decode: decodeCompletions,
      body: z.looseObject({
        model: z.string(),
        prompt: z
          .union([z.string(), z.array(z.string()).min(1), z.array(token).min(1), z.array(z.array(token).min(1)).min(1)])
          .optional(),
        suffix: z.string().optional().describe('The text after the gap. Only vendors that fill gaps take it.'),
        max_tokens: z.int().min(0).optional(),
        n: z.int().min(1).optional(),
        stop: z.union([z.string(), z.array(z.string())]).optional(),
        stream: z.boolean().optional(),
      }),
      streamed: true,
      response: z.looseObject({
        id: z.string(),
        object: z.literal('text_completion'),
        model: z.string(),
        choices: z.array(z.looseObject({ text: z.string(), index: z.int(), finish_reason: z.string().nullable() })),
      }),
    },
  ],
  input: promptTexts,
  output: completedTexts,
  tokensIn: ({ prompts }) => (prompts.some((one) => typeof one !== 'string') ? 'prompt' : null),
  estimate({ prompts, suffix = '', maxTokens, count, bestOf = 1 }) {
    const texts = (prompts as readonly (string | readonly number[])[]).map((one) =>
      typeof one === 'string' ? Math.ceil(byteLength(one) / 2) : one.length,
    )
    const inputTokens = texts.reduce((sum, tokens) => sum + tokens, Math.ceil((byteLength(suffix) / 2) * texts.length))
    if (maxTokens === undefined) return { inputTokens, bounded: false }
    return { inputTokens, outputTokens: maxTokens * Math.max(count, bestOf) * texts.length }
  },
  encode: encodeCompletions,
  codecs: { openai: openaiCompletions, mistral: mistralCompletions },
}
