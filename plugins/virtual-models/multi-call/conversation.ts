// Builds the request of each call of a multi-call strategy: the caller's conversation and the other calls' answers.
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen, Message } from '../../../core/types/request/canonical.ts'
import type { CompiledTarget } from '../planning/compiled-model.ts'

type Request = Frozen<CanonicalRequest>

/** Requests one whole answer. Only the caller can run tools, so none are declared. */
export function draftRequest(request: Request, target: CompiledTarget): CanonicalRequest {
  const { n: _n, ...sampling } = request.sampling
  const draft = { ...mutable(request), model: target.id, stream: false, sampling }
  // Some vendors refuse a conversation with calls but without declared tools.
  if (hasToolTurns(request)) return { ...draft, toolChoice: { mode: 'none' } }
  const { toolChoice: _choice, parallelToolCalls: _parallel, ...rest } = draft
  return { ...rest, tools: [] }
}

/** Returns the caller's request with the answers of a panel, without their models' names. The judge gets no tools. */
export function judgeRequest(request: Request, target: CompiledTarget, answers: readonly string[]): CanonicalRequest {
  const sources = answers.map((answer, index) => `[Source ${index + 1}]\n${answer}`).join('\n\n')
  const asked = `${JUDGE}\n\n${sources}`
  const { stream, sampling } = request
  return { ...draftRequest(withTurns(request, said('user', asked)), target), stream, sampling: { ...sampling } }
}

/** Returns the conversation, the text of the previous step, and the instruction. */
export function stepRequest(request: Request, target: CompiledTarget, before: string | null, isLast: boolean): CanonicalRequest {
  const turns = before === null ? [] : [said('assistant', before), said('user', target.instruction ?? IMPROVE)]
  const asked = withTurns(request, ...turns)
  return isLast ? { ...mutable(asked), model: target.id } : draftRequest(asked, target)
}

export function textOf({ choices }: Frozen<CanonicalResponse>): string {
  const parts = choices[0]?.parts ?? []
  return parts
    .map((part) => (part.t === 'text' ? part.text : ''))
    .join('')
    .trim()
}

/** Returns true when the request may lead to calls that only its caller can run. */
export function offersTools({ tools, toolChoice }: Request): boolean {
  return tools.length > 0 && toolChoice?.mode !== 'none'
}

const JUDGE =
  'Below are independent answers to my last message. Write one final answer to it. Keep what they agree on, settle where they contradict each other by what is best supported, and fill in what all of them miss. Do not mention the sources or that there were several answers.'

const IMPROVE =
  'Your last message is a draft. Correct what is wrong in it, complete what is missing, and answer with the final text only.'

function withTurns(request: Request, ...turns: Message[]): Request {
  return { ...request, messages: [...request.messages, ...turns] }
}

function said(role: 'user' | 'assistant', text: string): Message {
  return { role, parts: [{ t: 'text', text }] }
}

function hasToolTurns({ messages }: Request): boolean {
  return messages.some(({ parts }) => parts.some(({ t }) => t === 'tool_call' || t === 'tool_result'))
}

/** Internal calls copy before they change anything. */
function mutable(request: Request): CanonicalRequest {
  return request as CanonicalRequest
}
