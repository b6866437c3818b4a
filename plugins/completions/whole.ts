// Makes one completion of whole chat answers.
import { addedUsage } from '../../core/calls/derived-answer.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import { noUsage } from '../../core/models/token-estimate.ts'
import type { CompletionsAnswer, CompletionsRequest } from '../../core/types/operations/operations.ts'
import type { Finish, Usage } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { Result } from '../../core/types/request/result.ts'

export interface Asked {
  readonly request: Frozen<CompletionsRequest>
  readonly model: string
  /** Number of prompts. */
  readonly count: number
  /** Seconds since the epoch. */
  readonly created: number
  /** Makes the chat call for a prompt. */
  call(index: number): Promise<Result>
}

export async function wholeAnswer({ request, model, count, created, call }: Asked): Promise<Result> {
  const choices: CompletionsAnswer['choices'] = []
  let usage: Usage = noUsage()
  for (let at = 0; at < count; at++) {
    const result = await call(at)
    if (result.kind !== 'full') throw GatewayError.protocol('The chat call gave no whole answer.')
    const { response } = result
    usage = addedUsage(usage, response.usage as Usage)
    for (const { index, parts, finish } of response.choices) {
      const text = parts.map((part) => (part.t === 'text' || part.t === 'refusal' ? part.text : '')).join('')
      choices.push({
        index: at * request.count + index,
        text: echoed(request, at) + text,
        finish: finishOf(finish),
        logprobs: null,
      })
    }
  }
  const answer: CompletionsAnswer = { id: randomId('cmpl-'), created, model, choices, usage }
  return { kind: 'answer', reply: { usage, checked: true, answer: () => answer } }
}

/** Returns the text before the answer. */
export function echoed({ echo, prompts }: Frozen<CompletionsRequest>, index: number): string {
  const prompt = prompts[index]
  return echo && typeof prompt === 'string' ? prompt : ''
}

export function finishOf(finish: Finish): string {
  if (finish === 'length' || finish === 'context_window') return 'length'
  return finish === 'content_filter' || finish === 'refusal' ? 'content_filter' : 'stop'
}
