// Facts about a model on one connection: the connection's facts override those of its provider.
import { z } from 'zod'
import type { Connection, ConnectionCaps, Provider } from '../types/ports/provider.ts'
import type { ModelCaps } from '../types/request/dialect.ts'

const efforts = z.array(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']))
const tokens = z.int().min(1)
const flag = z.boolean()

const facts = z
  .strictObject({
    family: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lower-case letters, digits and dashes'),
    context: tokens,
    maxOutput: tokens,
    sampling: z.enum(['free', 'default_only', 'none']),
    temperatureMax: z.number().min(0),
    reasoning: flag,
    thinking: z.strictObject({ enabled: flag, adaptive: flag, disabled: flag, betweenTools: flag }).partial(),
    thinkingControl: z.enum(['level', 'budget', 'none']),
    efforts,
    structuredOutputs: flag,
    midSystem: flag,
    prefill: flag,
    visionIn: flag,
    pdfIn: flag,
    audioIn: flag,
    toolsOnChat: z.enum(['yes', 'effort_none_only', 'no']),
    maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']),
    developerRole: flag,
    thoughtSignature: flag,
    functionCallIds: flag,
    fnPartsInResults: flag,
    jsonWithTools: flag,
    jsonSchema: flag,
    systemInstruction: flag,
    stopSupported: flag,
    cacheBreakpoints: flag,
    webSearch: flag,
  })
  .partial()

/** The field `caps` of a connection, in the file and in the API. */
export const connectionCaps: z.ZodType<ConnectionCaps> = z.union([z.literal('none'), facts])

export function capsOf(
  provider: Pick<Provider, 'id' | 'caps'>,
  { caps }: Pick<Connection, 'caps'>,
  model: string,
): Readonly<ModelCaps> {
  if (caps === undefined || caps === null) return provider.caps(model)
  return caps === 'none' ? { family: provider.id } : { ...provider.caps(model), ...caps }
}
