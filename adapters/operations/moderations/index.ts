// POST /v1/moderations.
import { z } from 'zod'
import { byteLength } from '../../../core/text/bytes.ts'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { DEFAULT_MODEL, decodeModerations, encodeModerations, moderationTexts } from './caller.ts'
import { mistralModerations, openaiModerations } from './vendors.ts'

const part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
])

export const moderations: OperationDriver<'moderations'> = {
  id: 'moderations',
  connections: 'all',
  routes: [
    {
      path: '/v1/moderations',
      bodyLimit: 'default',
      models: 'concrete',
      modelOf: () => DEFAULT_MODEL,
      summary: `Verdicts about texts and images, in the format of OpenAI. \`model\` defaults to \`${DEFAULT_MODEL}\`.`,
      decode: decodeModerations,
      body: z.looseObject({
        model: z.string().optional(),
        input: z.union([z.string(), z.array(z.string()).min(1), z.array(part).min(1)]),
      }),
      response: z.looseObject({
        id: z.string(),
        model: z.string(),
        results: z.array(z.looseObject({ flagged: z.boolean(), categories: z.record(z.string(), z.boolean()) })),
      }),
    },
  ],
  input: moderationTexts,
  output: NO_TEXTS,
  estimate: (request) => ({
    inputTokens: moderationTexts.read(request).reduce((sum, text) => sum + Math.ceil(byteLength(text) / 2), 0),
  }),
  encode: encodeModerations,
  codecs: { openai: openaiModerations, mistral: mistralModerations },
}
