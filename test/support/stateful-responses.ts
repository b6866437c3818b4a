// An upstream that speaks responses and stores its answers, as the vendor's API does: it knows the ids that it made, and no others.
import { choose, fail, frames, type RecordedRequest, raw, type Step } from '../../adapters/testing/script.ts'

type Item = Record<string, unknown>

export interface StatefulResponses {
  readonly step: Step
  /** The conversation that the model saw, for each request. */
  readonly prompts: Item[][]
  /** The texts of whole answers and streams as they were sent. */
  readonly sent: string[]
  /** Forgets everything, as after the vendor's retention. */
  forget(): void
}

/** `answer`: the output of the model, without ids. */
export function statefulResponses(answer: (turn: number, input: readonly Item[]) => Item[]): StatefulResponses {
  const prompts: Item[][] = []
  const sent: string[] = []
  const responses = new Map<string, Item[]>()
  const items = new Map<string, Item>()
  let count = 0

  function reply({ json, stream, path }: RecordedRequest): Step {
    if (path.endsWith('/input_tokens')) return raw(200, JSON.stringify({ object: 'response.input_tokens', input_tokens: 77 }))
    const previous = json.previous_response_id as string | undefined
    const before = previous === undefined ? [] : responses.get(previous)
    if (before === undefined)
      return fail(400, {
        message: `Previous response with id '${previous}' not found.`,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
    const given = typeof json.input === 'string' ? [{ role: 'user', content: json.input }] : (json.input as Item[])
    const input: Item[] = []
    for (const item of given) {
      const known = items.get(item.id as string)
      if (item.type === 'item_reference' && known === undefined)
        return fail(404, { message: `Item with id '${item.id}' not found.` })
      input.push(item.type === 'item_reference' ? (known as Item) : item)
    }
    const prompt = [...before, ...input]
    prompts.push(prompt)
    const turn = ++count
    const id = `resp_vendor${String(turn).padStart(20, '0')}`
    const output = answer(turn, prompt).map((item, index) => ({
      id: `${PREFIX[String(item.type)]}_vendor${turn}x${index}`,
      ...item,
    }))
    if (json.store !== false) {
      responses.set(id, [...prompt, ...output])
      for (const item of output) items.set(item.id, item)
    }
    const response = {
      id,
      object: 'response',
      created_at: 1_795_000_000,
      status: 'completed',
      model: json.model,
      output,
      previous_response_id: previous ?? null,
      store: json.store !== false,
      vendor_member: { big: 1 },
      error: null,
      incomplete_details: null,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 15,
      },
    }
    if (!stream) {
      // The number has more digits than a double.
      const text = JSON.stringify(response, null, 1).replace('"big": 1', '"big": 12345678901234567890')
      sent.push(text)
      return raw(200, text)
    }
    const list = events(response)
    sent.push(list.join(''))
    return frames(list)
  }

  return {
    step: choose(reply),
    prompts,
    sent,
    forget() {
      responses.clear()
      items.clear()
    },
  }
}

const PREFIX: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs', web_search_call: 'ws' }

function events(response: Item & { output: Item[] }): string[] {
  const out: string[] = []
  const push = (type: string, members: object): void => {
    out.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: out.length, ...members })}\n\n`)
  }
  push('response.created', { response: { ...response, status: 'in_progress', output: [] } })
  for (const [index, item] of response.output.entries()) {
    const at = { item_id: item.id, output_index: index }
    push('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } })
    if (item.type === 'web_search_call') push('response.web_search_call.searching', at)
    if (item.type === 'message')
      push('response.output_text.delta', { ...at, content_index: 0, delta: 'Text', logprobs: [], obfuscation: 'x1' })
    push('response.output_item.done', { output_index: index, item })
  }
  push('response.completed', { response })
  return out
}

/** A message item of a model. */
export function said(text: string): Item {
  return {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}
