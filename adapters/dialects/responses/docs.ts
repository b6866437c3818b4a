// OpenAPI text of this dialect: required members and guaranteed ones. All other members pass through.
import { z } from 'zod'
import type { RouteDoc } from '../../../core/types/request/dialect.ts'

const item = z.looseObject({ type: z.string().nullish() })

const request = z.looseObject({
  model: z.string().describe('`<provider>/<model>`, or the name of a virtual model.'),
  input: z
    .union([z.string(), z.array(item)])
    .nullish()
    .describe('Needed, unless `instructions`, `previous_response_id`, `conversation` or `prompt` stands for it.'),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.number().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  text: z.looseObject({}).nullish(),
  include: z.array(z.string()).nullish(),
  store: z.boolean().nullish(),
  metadata: z.looseObject({}).nullish(),
  user: z.string().nullish(),
})

const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number().describe('Seconds since the epoch.'),
  status: z.string(),
  model: z.string(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  output: z.array(z.looseObject({ type: z.string() })),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number(), total_tokens: z.number() }).nullish(),
})

export const docs: readonly RouteDoc[] = [
  { name: 'Response', summary: 'OpenAI responses, answered by any provider.', body: request, response, streamed: true },
]

const count = z.looseObject({ object: z.literal('response.input_tokens'), input_tokens: z.number() })

export const countDocs: readonly RouteDoc[] = [
  {
    name: 'ResponseInputTokens',
    summary: 'Counts the tokens of a request without an answer.',
    body: request,
    response: count,
  },
]
