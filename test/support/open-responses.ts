// The members that the published schema of Open Responses (2026-04-24) requires of a response, of its items and of each event, on HTTP and on
// a WebSocket. Other members are allowed.
import { z } from 'zod'

const whole = z.int()
const text = z.string()
const oneOf = (...values: string[]) => z.enum(values)
const status = oneOf('in_progress', 'completed', 'incomplete')
const object = z.looseObject({})

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('output_text'), text, annotations: z.array(object), logprobs: z.array(object) }),
  z.looseObject({ type: z.literal('input_text'), text }),
  z.looseObject({ type: z.literal('text'), text }),
  z.looseObject({ type: z.literal('summary_text'), text }),
  z.looseObject({ type: z.literal('reasoning_text'), text }),
  z.looseObject({ type: z.literal('refusal'), refusal: text }),
  z.looseObject({ type: z.literal('input_image'), image_url: text.nullable(), detail: text }),
  z.looseObject({ type: z.literal('input_file') }),
])

const item = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('message'), id: text, status, role: text, content: z.array(part) }),
  z.looseObject({ type: z.literal('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  z.looseObject({
    type: z.literal('function_call_output'),
    id: text,
    call_id: text,
    output: z.union([text, z.array(part)]),
    status,
  }),
  z.looseObject({ type: z.literal('reasoning'), id: text, summary: z.array(part), encrypted_content: text.nullish() }),
  z.looseObject({ type: z.literal('compaction'), id: text, encrypted_content: text }),
])

const usage = z.looseObject({
  input_tokens: whole,
  input_tokens_details: z.looseObject({ cached_tokens: whole }),
  output_tokens: whole,
  output_tokens_details: z.looseObject({ reasoning_tokens: whole }),
  total_tokens: whole,
})

const functionTool = z.looseObject({
  type: z.literal('function'),
  name: text,
  description: text.nullable(),
  parameters: object.nullable(),
  strict: z.boolean().nullable(),
})

export const responseSchema = z.looseObject({
  id: text,
  object: z.literal('response'),
  created_at: whole,
  completed_at: whole.nullable(),
  status: oneOf('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'),
  incomplete_details: z.looseObject({ reason: text }).nullable(),
  model: text,
  previous_response_id: text.nullable(),
  instructions: z.union([text, z.array(object)]).nullable(),
  output: z.array(item),
  error: z.looseObject({ code: text, message: text }).nullable(),
  tools: z.array(functionTool),
  tool_choice: z.union([oneOf('none', 'auto', 'required'), z.looseObject({ type: text })]),
  truncation: oneOf('auto', 'disabled'),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: text }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: whole,
  temperature: z.number(),
  reasoning: z.looseObject({ effort: text.nullable(), summary: text.nullable() }).nullable(),
  user: text.nullable(),
  usage: usage.nullable(),
  max_output_tokens: whole.nullable(),
  max_tool_calls: whole.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(text, text),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
})

const at = { sequence_number: whole }
const inItem = { ...at, item_id: text, output_index: whole }
const inContent = { ...inItem, content_index: whole }
const inSummary = { ...inItem, summary_index: whole }
const event = <T extends z.ZodRawShape>(type: string, members: T) => z.looseObject({ type: z.literal(type), ...members })

const events = new Map<string, z.ZodType>(
  [
    ...['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'].map((name) =>
      event(`response.${name}`, { ...at, response: responseSchema }),
    ),
    ...['added', 'done'].map((name) => event(`response.output_item.${name}`, { ...at, output_index: whole, item })),
    ...['added', 'done'].map((name) => event(`response.content_part.${name}`, { ...inContent, part })),
    ...['added', 'done'].map((name) => event(`response.reasoning_summary_part.${name}`, { ...inSummary, part })),
    event('response.output_text.delta', { ...inContent, delta: text, logprobs: z.array(object) }),
    event('response.output_text.done', { ...inContent, text, logprobs: z.array(object) }),
    event('response.output_text.annotation.added', { ...inContent, annotation_index: whole, annotation: object }),
    event('response.refusal.delta', { ...inContent, delta: text }),
    event('response.refusal.done', { ...inContent, refusal: text }),
    event('response.reasoning_text.delta', { ...inContent, delta: text }),
    event('response.reasoning_text.done', { ...inContent, text }),
    event('response.reasoning_summary_text.delta', { ...inSummary, delta: text }),
    event('response.reasoning_summary_text.done', { ...inSummary, text }),
    event('response.function_call_arguments.delta', { ...inItem, delta: text }),
    event('response.function_call_arguments.done', { ...inItem, arguments: text }),
  ].map((schema) => [String(schema.shape.type.value), schema] as const),
)

/** An error on a WebSocket always has a code. */
export const socketErrorSchema = z.looseObject({
  type: z.literal('error'),
  status: whole,
  error: z.looseObject({ code: text, message: text, type: text.optional(), param: text.nullish() }),
})

/** Throws when an event is not in the schema. */
export function checkEvent(given: unknown): void {
  const { type } = z.looseObject({ type: text }).parse(given)
  const schema = events.get(type)
  if (schema === undefined) throw new Error(`The schema has no event ${type}.`)
  schema.parse(given)
}

/** Throws when events are not in the schema, are not numbered one by one, or have no end. */
export function checkStream(given: readonly unknown[]): void {
  for (const one of given) checkEvent(one)
  const list = given as { type: string; sequence_number: number }[]
  const numbers = list.map(({ sequence_number }) => sequence_number)
  if (numbers.some((number, index) => number !== index)) throw new Error(`The numbers are ${numbers}.`)
  if (!/^response\.(?:completed|failed|incomplete)$/.test(list.at(-1)?.type ?? '')) throw new Error('The stream has no end.')
}
