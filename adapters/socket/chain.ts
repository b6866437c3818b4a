// Remembers the last response of a socket, so that the next request can go on from it without a store. Only the newest one is kept, as on
// the API that this follows.

type Item = Readonly<Record<string, unknown>>

/** A longer conversation is not remembered: its next turn must send the whole input. */
const MAX_CHARS = 16 << 20

export interface Request {
  readonly input?: unknown
  readonly previous_response_id?: unknown
  readonly [name: string]: unknown
}

export class Chain {
  #id: string | null = null
  #items: readonly Item[] = []
  #chars = 0

  /** Returns the request with the whole conversation as its input, when it goes on from the remembered response. */
  expanded(request: Request): Request {
    if (this.#id === null || request.previous_response_id !== this.#id) return request
    const { previous_response_id: _, ...rest } = request
    return { ...rest, input: [...this.#items, ...itemsOf(request.input)] }
  }

  /** True: the request goes on from the remembered response. */
  continues({ previous_response_id: id }: Request): boolean {
    return this.#id !== null && id === this.#id
  }

  /** @param request as it was sent to the pipeline, `expanded`. */
  remember(id: string, request: Request, output: readonly unknown[], chars: number): void {
    this.forget()
    // The input of a chain that is stored elsewhere is not known here.
    if (typeof request.previous_response_id === 'string') return
    if (this.#chars + chars > MAX_CHARS) return
    this.#id = id
    this.#items = [...itemsOf(request.input), ...output.filter(isItem)]
    this.#chars = chars
  }

  forget(): void {
    this.#id = null
    this.#items = []
    this.#chars = 0
  }
}

function itemsOf(input: unknown): readonly Item[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  return Array.isArray(input) ? (input as Item[]) : []
}

/** An upstream that stored nothing cannot find reasoning by its id. */
function isItem(item: unknown): item is Item {
  if (typeof item !== 'object' || item === null) return false
  const { type, encrypted_content: content } = item as Item
  return type !== 'reasoning' || typeof content === 'string'
}
