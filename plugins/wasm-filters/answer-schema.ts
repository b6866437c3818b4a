// Schemas of the canonical answer and its stream events that a filter may return.
import { z } from 'zod'
import type { CanonicalResponse, Choice, Usage } from '../../core/types/request/answer.ts'
import type { Delta, PartMeta, StreamEvent } from '../../core/types/request/stream.ts'
import { annotation, ext, json, part, parts, signature } from './part-schema.ts'

const text = z.string()
const optionalText = z.string().optional()
const count = z.number().min(0)
const index = z.int().min(0).max(100_000)

const finish = z.enum([
  'stop',
  'stop_sequence',
  'length',
  'context_window',
  'tool_calls',
  'content_filter',
  'refusal',
  'pause',
  'malformed_tool_call',
  'compaction',
  'error',
  'other',
])

const counts = {
  cacheWrite5m: count.optional(),
  cacheWrite1h: count.optional(),
  inputAudio: count.optional(),
  inputImage: count.optional(),
  toolUsePrompt: count.optional(),
  reasoning: count.optional(),
  outputAudio: count.optional(),
  acceptedPrediction: count.optional(),
  rejectedPrediction: count.optional(),
  serverTools: z.record(z.string(), count).optional(),
}
const totals = { inputTotal: count, cacheRead: count, cacheWrite: count, outputTotal: count, total: count }

const usage: z.ZodType<Usage> = z.strictObject({ ...totals, ...counts, estimated: z.boolean(), raw: json })

const choice: z.ZodType<Choice> = z.strictObject({
  index,
  parts,
  finish,
  stopSequence: optionalText,
  logprobs: json.optional(),
  nativeFinish: text,
  safety: json.optional(),
  ext: ext.optional(),
})

export const canonicalResponse: z.ZodType<CanonicalResponse> = z.strictObject({
  id: text,
  created: z.number().min(0),
  model: text,
  choices: z.array(choice),
  usage,
  serviceTier: optionalText,
  error: json.optional(),
  ext,
})

const delta: z.ZodType<Delta> = z.union([
  z.strictObject({ text }),
  z.strictObject({ args: text }),
  z.strictObject({ reasoning: text }),
  z.strictObject({ summary: text }),
  z.strictObject({ signature }),
  z.strictObject({ annotation }),
  z.strictObject({ refusal: text }),
  z.strictObject({ audio: json }),
  z.strictObject({ logprobs: json }),
  z.strictObject({ raw: json }),
])

const meta: z.ZodType<PartMeta> = z.strictObject({
  id: optionalText,
  idMinted: z.boolean().optional(),
  name: optionalText,
  namespace: optionalText,
  kind: z.enum(['function', 'custom']).optional(),
  itemId: optionalText,
  signature: signature.optional(),
  caller: json.optional(),
  raw: json.optional(),
  ext: ext.optional(),
})

const kind = z.enum(['text', 'reasoning', 'redacted', 'tool_call', 'refusal', 'audio', 'image', 'server_tool'])
const place = { choice: index, part: index }

/** A filter may create only events of parts; all others are compared with the original ones (stream-shape.ts). */
export const streamEvent: z.ZodType<StreamEvent> = z.union([
  z.strictObject({ e: z.literal('part_start'), ...place, kind, meta }),
  z.strictObject({ e: z.literal('delta'), ...place, d: delta }),
  z.strictObject({ e: z.literal('part_stop'), ...place, full: part }),
  z.custom<StreamEvent>((value) => KEPT.has((value as StreamEvent | null)?.e ?? ''), 'must be an event of a stream'),
])

const KEPT: ReadonlySet<string> = new Set(['start', 'usage', 'finish', 'error', 'ping', 'end'])
