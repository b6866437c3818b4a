// POST /v1/responses/compact. The codec serves `native`; the plugin `compaction` answers the other modes.
import { z } from 'zod'
import { byteLength } from '../../../core/text/bytes.ts'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { compactTexts, decodeCompact, encodeCompact, MODES } from './caller.ts'
import { openaiCompact } from './openai.ts'

const item = z.looseObject({ type: z.string().optional() })

export const compact: OperationDriver<'compact'> = {
  id: 'compact',
  connections: 'all',
  routes: [
    {
      path: '/v1/responses/compact',
      bodyLimit: 'default',
      models: 'text',
      summary: 'A shorter form of a conversation of the responses dialect.',
      decode: decodeCompact,
      body: z.looseObject({
        model: z.string(),
        input: z
          .union([z.string().min(1), z.array(item).min(1)])
          .optional()
          .describe('Required without `previous_response_id`.'),
        previous_response_id: z.string().optional().describe('The stored conversation stands before `input`.'),
        instructions: z.string().optional(),
        mode: z
          .enum(MODES)
          .optional()
          .describe('`native`: the vendor compacts. `heuristic`: no model is called. `model`: a model writes a summary.'),
      }),
      response: z.looseObject({
        id: z.string(),
        object: z.literal('response.compaction'),
        created_at: z.int(),
        output: z.array(item),
        usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
      }),
    },
  ],
  input: compactTexts,
  output: NO_TEXTS,
  // The length of a summary is not known before.
  estimate: (request) => ({
    inputTokens: compactTexts.read(request).reduce((sum, text) => sum + Math.ceil(byteLength(text) / 2), 0),
    bounded: false,
  }),
  encode: encodeCompact,
  codecs: { openai: openaiCompact },
}
