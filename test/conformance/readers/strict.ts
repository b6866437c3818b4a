// Schemas of the matrix's requests as the four vendors document them, without other members: Google refuses a whole request for one
// unknown member, Anthropic and OpenAI for many. They find members that one dialect leaves in another.
import { z } from 'zod'
import type { Dialect } from '../../../core/types/request/canonical.ts'

const word = z.string().min(1)
const literal = z.literal
const object = z.strictObject

const chat = object({
  model: word,
  messages: z.array(
    z.union([
      object({ role: z.enum(['system', 'developer']), content: word }),
      object({ role: literal('user'), content: z.union([word, z.array(chatPart()).min(1)]) }),
      object({
        role: literal('assistant'),
        content: word.nullable(),
        reasoning_content: word.optional(),
        tool_calls: z
          .array(object({ id: word, type: literal('function'), function: object({ name: word, arguments: word }) }))
          .min(1)
          .optional(),
      }),
      object({ role: literal('tool'), tool_call_id: word, content: word }),
    ]),
  ),
  tools: z
    .array(
      object({
        type: literal('function'),
        function: object({ name: word, description: word, parameters: z.unknown(), strict: z.boolean().optional() }),
      }),
    )
    .optional(),
  response_format: object({
    type: literal('json_schema'),
    json_schema: object({ name: word, schema: z.unknown(), strict: z.boolean().optional() }),
  }).optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
  stop: z.array(word).max(4).optional(),
  reasoning_effort: word.optional(),
  stream: literal(true).optional(),
  stream_options: object({ include_usage: literal(true) }).optional(),
})

function chatPart() {
  return z.union([
    object({ type: literal('text'), text: word }),
    object({ type: literal('image_url'), image_url: object({ url: word, detail: word.optional() }) }),
    object({ type: literal('file'), file: object({ filename: word, file_data: z.string().startsWith('data:') }) }),
    object({ type: literal('file'), file: object({ file_id: word }) }),
  ])
}

const said = object({ type: literal('text'), text: word })
const base64 = object({ type: literal('base64'), media_type: word, data: word })
const picture = object({ type: literal('image'), source: z.union([base64, object({ type: literal('url'), url: word })]) })
const messages = object({
  model: word,
  max_tokens: z.int(),
  system: z.array(said).optional(),
  messages: z.array(
    z.union([
      object({
        role: literal('user'),
        content: z
          .array(
            z.union([
              said,
              picture,
              object({ type: literal('document'), source: base64, title: word.optional() }),
              object({
                type: literal('tool_result'),
                tool_use_id: z.string().regex(/^[\w-]+$/),
                content: z.union([word, z.array(z.union([said, picture]))]),
              }),
            ]),
          )
          .min(1),
      }),
      object({
        role: literal('assistant'),
        content: z
          .array(
            z.union([
              said,
              object({ type: literal('thinking'), thinking: z.string(), signature: word }),
              object({
                type: literal('tool_use'),
                id: z.string().regex(/^[\w-]+$/),
                name: word,
                input: z.record(word, z.unknown()),
              }),
            ]),
          )
          .min(1),
      }),
    ]),
  ),
  tools: z.array(object({ name: word, description: word, input_schema: z.unknown(), strict: z.boolean().optional() })).optional(),
  stop_sequences: z.array(word).optional(),
  thinking: object({ type: literal('adaptive'), display: word.optional() }).optional(),
  output_config: object({
    effort: word.optional(),
    format: object({ type: literal('json_schema'), schema: z.unknown() }).optional(),
  }).optional(),
  stream: literal(true).optional(),
})

const inputPart = z.union([
  object({ type: literal('input_text'), text: word }),
  object({ type: literal('input_image'), detail: word, image_url: word }),
  object({ type: literal('input_file'), filename: word, file_data: z.string().startsWith('data:') }),
  object({ type: literal('input_file'), file_id: word }),
])
const outputPart = object({ type: literal('output_text'), text: word, annotations: z.array(z.unknown()) })
const responses = object({
  model: word,
  input: z.array(
    z.union([
      object({ type: literal('message'), role: z.enum(['system', 'developer', 'user']), content: z.array(inputPart).min(1) }),
      object({ type: literal('message'), role: literal('assistant'), content: z.array(outputPart).min(1) }),
      object({ type: literal('function_call'), call_id: word.max(64), name: word, arguments: word }),
      object({ type: literal('function_call_output'), call_id: word, output: z.union([z.string(), z.array(inputPart)]) }),
      object({
        type: literal('reasoning'),
        summary: z.array(object({ type: literal('summary_text'), text: word })),
        encrypted_content: word,
      }),
    ]),
  ),
  store: literal(false),
  max_output_tokens: z.int().min(16),
  tools: z
    .array(object({ type: literal('function'), name: word, description: word, parameters: z.unknown(), strict: z.boolean() }))
    .optional(),
  text: object({
    format: object({ type: literal('json_schema'), name: word, schema: z.unknown(), strict: z.boolean().optional() }),
  }).optional(),
  reasoning: object({ effort: word, summary: word.optional() }).optional(),
  include: z.tuple([literal('reasoning.encrypted_content')]).optional(),
  stream: literal(true).optional(),
})

const inlineData = object({ mimeType: word, data: word })
const thoughtSignature = word.optional()
const generateContent = object({
  systemInstruction: object({ parts: z.array(object({ text: word })) }).optional(),
  contents: z.array(
    object({
      role: z.enum(['user', 'model']),
      parts: z
        .array(
          z.union([
            object({ text: z.string(), thoughtSignature }),
            object({ inlineData }),
            object({ fileData: object({ mimeType: word, fileUri: word }) }),
            object({ functionCall: object({ id: word, name: word, args: z.record(word, z.unknown()) }), thoughtSignature }),
            object({
              functionResponse: object({
                id: word,
                name: word,
                response: object({ output: z.string() }),
                parts: z.array(object({ inlineData })).optional(),
              }),
            }),
          ]),
        )
        .min(1),
    }),
  ),
  tools: z
    .array(
      object({ functionDeclarations: z.array(object({ name: word, description: word, parametersJsonSchema: z.unknown() })) }),
    )
    .optional(),
  generationConfig: object({
    maxOutputTokens: z.int(),
    stopSequences: z.array(word).max(5).optional(),
    responseMimeType: literal('application/json').optional(),
    responseJsonSchema: z.unknown().optional(),
    thinkingConfig: object({ includeThoughts: z.boolean(), thinkingLevel: word }).optional(),
  }),
})

const SHAPES: Readonly<Record<Dialect, z.ZodType>> = { chat, messages, responses, generate_content: generateContent }

/** @throws Error naming the member that the vendor would refuse. */
export function checkShape(dialect: Dialect, body: unknown): void {
  const parsed = SHAPES[dialect].safeParse(body)
  if (!parsed.success) throw new Error(`The ${dialect} vendor would refuse this request:\n${z.prettifyError(parsed.error)}`)
}
