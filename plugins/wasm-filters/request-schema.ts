// Schema of the canonical request from a filter; `hookgate filter test` also reads its files with it.
import { z } from 'zod'
import type { CanonicalRequest, Message, SystemBlock, Tool, ToolChoice } from '../../core/types/request/canonical.ts'
import { cacheMark, dialect, ext, json, parts } from './part-schema.ts'

const text = z.string()
const optionalText = z.string().optional()
const flag = z.boolean().optional()
const count = z.int().min(0)

const system: z.ZodType<SystemBlock> = z.strictObject({ role: z.enum(['system', 'developer']), parts, name: optionalText })

const message: z.ZodType<Message> = z.strictObject({
  role: z.enum(['user', 'assistant', 'tool', 'system', 'developer']),
  parts,
  name: optionalText,
  id: optionalText,
  phase: z.enum(['commentary', 'final_answer']).optional(),
  status: optionalText,
  ext: ext.optional(),
})

const tool: z.ZodType<Tool> = z.lazy(() =>
  z.discriminatedUnion('t', [
    z.strictObject({
      t: z.literal('function'),
      name: text,
      description: optionalText,
      schema: json.optional(),
      strict: flag,
      cache: cacheMark.optional(),
      deferLoading: flag,
      ext: ext.optional(),
    }),
    z.strictObject({ t: z.literal('custom'), name: text, description: optionalText, format: json.optional() }),
    z.strictObject({ t: z.literal('namespace'), name: text, description: text, tools: z.array(tool) }),
    z.strictObject({ t: z.literal('server'), dialect, kind: text, raw: json }),
  ]),
)

const toolChoice: z.ZodType<ToolChoice> = z.union([
  z.strictObject({ mode: z.enum(['auto', 'none', 'required']) }),
  z.strictObject({ mode: z.literal('tool'), name: text }),
  z.strictObject({ mode: z.literal('allowed'), base: z.enum(['auto', 'required']), names: z.array(text) }),
  z.strictObject({ mode: z.literal('server'), raw: json }),
])

export const canonicalRequest: z.ZodType<CanonicalRequest> = z.strictObject({
  model: text,
  stream: z.boolean(),
  source: dialect,
  system: z.array(system),
  messages: z.array(message),
  tools: z.array(tool),
  toolChoice: toolChoice.optional(),
  parallelToolCalls: flag,
  output: z
    .strictObject({
      kind: z.enum(['text', 'json_object', 'json_schema', 'grammar']),
      name: optionalText,
      schema: json.optional(),
      strict: flag,
      description: optionalText,
    })
    .optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
      budgetTokens: z.int().optional(),
      mode: z.enum(['disabled', 'enabled', 'adaptive', 'dynamic', 'between_tools']).optional(),
      summary: z.enum(['auto', 'concise', 'detailed', 'omitted']).optional(),
      includeThoughts: flag,
      encrypted: flag,
    })
    .optional(),
  verbosity: z.enum(['low', 'medium', 'high']).optional(),
  maxTokens: count.optional(),
  sampling: z.strictObject({
    temperature: z.number().optional(),
    topP: z.number().optional(),
    topK: z.number().optional(),
    frequencyPenalty: z.number().optional(),
    presencePenalty: z.number().optional(),
    logitBias: z.record(z.string(), z.number()).optional(),
    seed: z.number().optional(),
    n: count.optional(),
  }),
  stop: z.array(text).optional(),
  logprobs: z.strictObject({ enabled: z.boolean(), top: count.optional() }).optional(),
  modalities: z.array(z.enum(['text', 'audio', 'image'])).optional(),
  audioOut: z.strictObject({ voice: json, format: text }).optional(),
  endUser: optionalText,
  metadata: z.record(z.string(), z.string()).optional(),
  safetyId: optionalText,
  cache: z
    .strictObject({
      key: optionalText,
      retention: optionalText,
      auto: cacheMark.optional(),
      mode: z.enum(['implicit', 'explicit']).optional(),
    })
    .optional(),
  serviceTier: z.enum(['auto', 'default', 'flex', 'priority', 'scale', 'standard_only']).optional(),
  speed: z.enum(['standard', 'fast']).optional(),
  webSearch: z
    .strictObject({
      contextSize: optionalText,
      userLocation: json.optional(),
      allowedDomains: z.array(text).optional(),
      blockedDomains: z.array(text).optional(),
      maxUses: count.optional(),
    })
    .optional(),
  state: z
    .strictObject({
      previousResponseId: optionalText,
      conversation: json.optional(),
      store: flag,
      background: flag,
      promptTemplate: json.optional(),
      truncation: optionalText,
      contextManagement: json.optional(),
      thread: json.optional(),
      container: json.optional(),
    })
    .optional(),
  includeUsage: flag,
  headers: z.strictObject({
    anthropicVersion: optionalText,
    anthropicBeta: z.array(text).optional(),
    openaiBeta: optionalText,
    idempotencyKey: optionalText,
  }),
  ext,
})
