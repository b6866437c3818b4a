// A sample: the request as the challenger will get it, and the compared parts of the answer. Only conversations of text and function calls
// can be sampled: nothing else can be sent to another model and compared.
import { z } from 'zod'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen, Part } from '../../core/types/request/canonical.ts'

/** The compared parts of an answer. */
export interface Answer {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly args: string }[]
}

export interface Payload {
  readonly request: CanonicalRequest
  readonly answer: Answer
}

/** UTF-16 units of a sealed sample. A longer one is not kept. */
export const MAX_CHARS = 512 * 1024
/** An answer of a model without a known limit is cut here. */
const MAX_TOKENS = 4096

const payload = z.object({
  request: z.custom<CanonicalRequest>((value) => typeof value === 'object' && value !== null),
  answer: z.object({ text: z.string(), calls: z.array(z.object({ name: z.string(), args: z.string() })) }),
})

/** @throws Error when the text is no sample. */
export function readPayload(text: string): Payload {
  return payload.parse(JSON.parse(text))
}

/** Returns null for an answer that cannot be compared: cut, refused by a filter, or with other content than text and function calls. */
export function answerOf({ choices }: Frozen<CanonicalResponse>): Answer | null {
  const [choice, ...others] = choices
  if (choice === undefined || others.length > 0 || !ENDED.has(choice.finish)) return null
  const calls: { name: string; args: string }[] = []
  let text = ''
  for (const part of choice.parts) {
    if (part.t === 'text' || part.t === 'refusal') text += part.text
    else if (part.t === 'tool_call' && part.kind === 'function') calls.push({ name: part.name, args: part.args })
    else if (part.t !== 'reasoning') return null
  }
  return { text, calls }
}

const ENDED: ReadonlySet<string> = new Set(['stop', 'stop_sequence', 'tool_calls', 'refusal'])

/**
 * Returns the request without what belongs to one vendor or one caller; null when it cannot be sampled. @param ceiling the most output
 * tokens of the challenger.
 */
export function replayOf(request: Frozen<CanonicalRequest>, ceiling: number | undefined): CanonicalRequest | null {
  if (!isText(request)) return null
  const { source, system, messages, tools, toolChoice, parallelToolCalls, output, sampling, stop, maxTokens } = request
  const { n: _n, logitBias: _bias, ...chosen } = sampling
  const kept: Frozen<CanonicalRequest> = {
    model: '',
    stream: false,
    source,
    system,
    messages,
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(parallelToolCalls !== undefined && { parallelToolCalls }),
    ...(output !== undefined && { output }),
    ...(stop !== undefined && { stop }),
    // With a limit in the request, the cost of the replay has an upper limit before it is sent.
    maxTokens: Math.min(maxTokens ?? MAX_TOKENS, ceiling ?? MAX_TOKENS),
    sampling: chosen,
    headers: {},
    ext: {},
  }
  return kept as CanonicalRequest
}

function isText({
  system,
  messages,
  tools,
  toolChoice,
  sampling,
  modalities,
  webSearch,
  state,
}: Frozen<CanonicalRequest>): boolean {
  if ((sampling.n ?? 1) !== 1 || webSearch !== undefined || modalities?.some((one) => one !== 'text')) return false
  if (tools.some(({ t }) => t !== 'function') || toolChoice?.mode === 'server') return false
  const { previousResponseId, conversation, promptTemplate, thread, container } = state ?? {}
  if ([previousResponseId, conversation, promptTemplate, thread, container].some((one) => one != null)) return false
  return [...system, ...messages].every(({ parts }) => parts.every(isPlain))
}

function isPlain(part: Frozen<Part>): boolean {
  if (part.t === 'tool_result') return part.parts.every(({ t }) => t === 'text')
  if (part.t === 'tool_call') return part.kind === 'function'
  return part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal'
}
