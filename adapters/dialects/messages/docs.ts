// OpenAPI text of this dialect: required members and guaranteed ones. All other members pass through.
import { z } from 'zod'
import type { RouteDoc } from '../../../core/types/request/dialect.ts'

const block = z.looseObject({ type: z.string() })
const blocks = z.union([z.string(), z.array(block)])

const counted = z.looseObject({
  model: z.string().describe('`<provider>/<model>`, or the name of a virtual model.'),
  messages: z.array(z.looseObject({ role: z.string(), content: blocks })),
  system: blocks.nullish(),
  tools: z.array(z.looseObject({ name: z.string() })).nullish(),
  tool_choice: z.looseObject({ type: z.string() }).nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
})

const request = counted.extend({
  max_tokens: z.number().nullish().describe('Default: what the model allows, at most 32,000.'),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
})

const response = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(block),
  stop_reason: z.string().nullish(),
  stop_sequence: z.string().nullish(),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
})

export const messageDocs: readonly RouteDoc[] = [
  { name: 'Message', summary: 'Anthropic messages, answered by any provider.', body: request, response, streamed: true },
]

export const countDocs: readonly RouteDoc[] = [
  {
    name: 'MessageCount',
    summary:
      'The input tokens of a messages request: counted by the provider, or estimated (`x-gateway-warnings: estimated_tokens`).',
    body: counted,
    response: z.looseObject({ input_tokens: z.number() }),
  },
]
