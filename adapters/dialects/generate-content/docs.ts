// OpenAPI text of this dialect: required members and guaranteed ones. All other members pass through. Members may be camelCase or
// snake_case; the document shows camelCase.
import { z } from 'zod'
import type { RouteDoc } from '../../../core/types/request/dialect.ts'

const part = z.looseObject({})
const content = z.looseObject({ role: z.string().nullish(), parts: z.array(part).nullish() })

const request = z.looseObject({
  contents: z.union([z.array(content), content]),
  systemInstruction: z.union([z.string(), z.array(part), z.looseObject({})]).nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  toolConfig: z.looseObject({}).nullish(),
  generationConfig: z
    .looseObject({
      temperature: z.number().nullish(),
      topP: z.number().nullish(),
      maxOutputTokens: z.number().nullish(),
      stopSequences: z.array(z.string()).nullish(),
      responseMimeType: z.string().nullish(),
      thinkingConfig: z.looseObject({}).nullish(),
    })
    .nullish(),
  safetySettings: z.array(z.looseObject({})).nullish(),
})

const response = z.looseObject({
  candidates: z
    .array(z.looseObject({ content: content.nullish(), finishReason: z.string().nullish(), index: z.int().nullish() }))
    .optional()
    .describe('Absent when the prompt was blocked.'),
  promptFeedback: z.looseObject({}).optional(),
  usageMetadata: z.looseObject({ totalTokenCount: z.number().optional() }).optional(),
  modelVersion: z.string().optional(),
  responseId: z.string().optional(),
})

const counted = request.partial().extend({
  generateContentRequest: request.partial().nullish().describe('The request, where it is more than `contents`.'),
})

export function countDocs(stem: string): readonly RouteDoc[] {
  return [
    {
      path: `${stem}{model}:countTokens`,
      name: 'CountTokens',
      summary:
        'The input tokens of a generate-content request: counted by the provider, or estimated (`x-gateway-warnings: estimated_tokens`).',
      body: counted,
      response: z.looseObject({ totalTokens: z.number() }),
    },
  ]
}

/** Returns the two operations of a model. */
export function verbs(stem: string): readonly RouteDoc[] {
  return [
    {
      path: `${stem}{model}:generateContent`,
      name: 'GenerateContent',
      summary: 'Google generate-content, answered by any provider. `model` is `<provider>/<model>`, its slash as %2F or raw.',
      body: request,
      response,
    },
    {
      path: `${stem}{model}:streamGenerateContent`,
      name: 'StreamGenerateContent',
      summary: 'The same as a stream: of events with `alt=sse`, else of the members of one JSON array.',
      query: z.object({ alt: z.enum(['sse', 'json']).optional() }),
      body: request,
      response: z.array(response),
      streamed: true,
    },
  ]
}
