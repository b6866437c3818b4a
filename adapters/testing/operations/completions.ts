// Scripted completions: the answer to a prompt is `…` and the last word of the prompt, then the first word of the suffix.
import { frames, type RecordedRequest, raw, type Step } from '../script.ts'

type Json = Record<string, unknown>

export const COMPLETION_ANSWERS: readonly (readonly [RegExp, (json: Json, request: RecordedRequest) => Step])[] = [
  [/\/fim\/completions$/, ({ model, prompt, suffix }) => fill(String(model), String(prompt), String(suffix ?? ''))],
  [/^(?!.*\/chat\/).*\/completions$/, complete],
]

function continued(prompt: unknown, suffix: unknown): string {
  const last = typeof prompt === 'string' ? (prompt.trim().split(/\s+/).at(-1) ?? '') : JSON.stringify(prompt)
  return `…${last}${typeof suffix === 'string' ? suffix.trim().split(/\s+/)[0] : ''}`
}

function fill(model: string, prompt: string, suffix: string): Step {
  const message = { role: 'assistant', content: continued(prompt, suffix) }
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  const body = {
    id: 'fim-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  }
  return raw(200, JSON.stringify(body), { contentType: 'application/json' })
}

function complete({ model, prompt, suffix, n = 1, stream, stream_options: options }: Json): Step {
  const many = Array.isArray(prompt) && typeof prompt[0] !== 'number'
  const prompts = many ? (prompt as unknown[]) : [prompt]
  const texts = prompts.flatMap((one) => Array.from({ length: Number(n) }, () => continued(one, suffix)))
  const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model }
  const usage = {
    prompt_tokens: 7 * prompts.length,
    completion_tokens: 3 * texts.length,
    total_tokens: 7 * prompts.length + 3 * texts.length,
  }
  const choice = (text: string, index: number, finish: string | null) => ({ text, index, logprobs: null, finish_reason: finish })
  if (stream !== true) {
    const choices = texts.map((text, index) => choice(text, index, 'stop'))
    return raw(200, JSON.stringify({ ...head, choices, usage }), { contentType: 'application/json' })
  }
  const event = (body: object) => `data: ${JSON.stringify({ ...head, ...body })}\n\n`
  const list = texts.flatMap((text, index) => [
    event({ choices: [choice(text.slice(0, 2), index, null)] }),
    event({ choices: [choice(text.slice(2), index, 'stop')] }),
  ])
  const wanted = (options as { include_usage?: boolean } | undefined)?.include_usage === true
  return frames([...list, ...(wanted ? [event({ choices: [], usage })] : []), 'data: [DONE]\n\n'])
}
