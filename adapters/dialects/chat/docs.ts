// OpenAPI text of this dialect: required members and guaranteed ones. All other members pass through.
import { z } from 'zod'
import type { RouteDoc } from '../../../core/types/request/dialect.ts'

const part = z.looseObject({ type: z.string() })
const content = z.union([z.string(), z.array(part)]).nullish()
const call = z.looseObject({ id: z.string(), type: z.string() })

const request = z
  .looseObject({
    model: z.string().describe('`<provider>/<model>`, or the name of a virtual model.'),
    messages: z
      .array(
        z.looseObject({ role: z.string(), content, tool_calls: z.array(call).nullish(), tool_call_id: z.string().nullish() }),
      )
      .min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    n: z.int().min(1).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    seed: z.int().nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    reasoning_effort: z.string().nullish(),
    user: z.string().nullish(),
  })
  .describe('OpenAI chat completions.')

/** A body with `contents` and without `messages` is a generate-content request. */
const foreignRequest = z
  .looseObject({ model: z.string(), contents: z.array(z.looseObject({})), stream: z.boolean().nullish() })
  .describe('A generate-content request; it is answered in that dialect.')

const usage = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })

const response = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number().describe('Seconds since the epoch.'),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.string(),
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        tool_calls: z.array(call).nullish(),
      }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: usage.nullish(),
})

const foreignResponse = z
  .looseObject({ candidates: z.array(z.looseObject({})) })
  .describe('The answer to a generate-content request.')

export const docs: readonly RouteDoc[] = [
  {
    name: 'ChatCompletion',
    summary: 'OpenAI chat completions, answered by any provider.',
    body: z.union([request, foreignRequest]),
    response: z.union([response, foreignResponse]),
    streamed: true,
  },
]
