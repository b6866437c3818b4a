// Makes the stream of one completion of the streams of chat calls, prompt by prompt.
import { addedUsage } from '../../core/calls/derived-answer.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import { estimateText, noUsage } from '../../core/models/token-estimate.ts'
import { byteLength } from '../../core/text/bytes.ts'
import type { ByteSource, Sink } from '../../core/types/ports/ports.ts'
import type { Usage } from '../../core/types/request/answer.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { StreamEvent, StreamSource } from '../../core/types/request/stream.ts'
import { type Asked, echoed, finishOf } from './whole.ts'

/** The first call has started before the head is sent, so that its refusal has a status. */
export async function streamedAnswer(asked: Asked): Promise<Result> {
  const { model, created } = asked
  const first = sourceOf(await asked.call(0))
  const source = new CompletionStream(asked, first)
  const answer = { id: source.id, created, model, choices: [], usage: noUsage() }
  const stream = { contentType: 'text/event-stream; charset=utf-8', source, usage: () => source.usage }
  return { kind: 'answer', reply: { usage: noUsage(), checked: true, answer: () => answer, stream } }
}

function sourceOf(result: Result): StreamSource {
  if (result.kind === 'stream') return result.source
  throw GatewayError.protocol('The chat call gave no stream.')
}

class CompletionStream implements ByteSource {
  readonly id = randomId('cmpl-')
  usage: Usage = noUsage()
  readonly #asked: Asked
  #running: StreamSource
  #failure: GatewayError | null = null

  constructor(asked: Asked, first: StreamSource) {
    this.#asked = asked
    this.#running = first
  }

  failure(): GatewayError | null {
    return this.#failure
  }

  cancel(reason?: unknown): void {
    this.#running.cancel(reason === undefined ? undefined : GatewayError.from(reason))
  }

  async pump(sink: Pick<Sink, 'write' | 'drained'>): Promise<void> {
    const { count, request } = this.#asked
    try {
      for (let at = 0; at < count; at++) {
        if (at > 0) this.#running = sourceOf(await this.#asked.call(at))
        await this.#one(at, sink)
      }
      if (request.includeUsage) sink.write(this.#frame([], { usage: wireUsage(this.usage) }))
      sink.write('data: [DONE]\n\n')
    } catch (thrown) {
      this.#failure = GatewayError.from(thrown)
      const { message, type, code } = this.#failure
      sink.write(`data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`)
    }
  }

  async #one(at: number, sink: Pick<Sink, 'write' | 'drained'>): Promise<void> {
    const { request } = this.#asked
    const source = this.#running
    const index = (choice: number): number => at * request.count + choice
    let bytes = 0
    const text = (choice: number, value: string): void => {
      bytes += byteLength(value)
      sink.write(this.#frame([choiceOf(index(choice), value, null)]))
    }
    const event = (one: StreamEvent): void => {
      if (one.e === 'delta' && 'text' in one.d) text(one.choice, one.d.text)
      else if (one.e === 'delta' && 'refusal' in one.d) text(one.choice, one.d.refusal)
      else if (one.e === 'finish') sink.write(this.#frame([choiceOf(index(one.choice), '', finishOf(one.finish))]))
    }
    const echo = echoed(request, at)
    if (echo !== '')
      for (let choice = 0; choice < request.count; choice++) sink.write(this.#frame([choiceOf(index(choice), echo, null)]))
    await source.pump({ event, frame: () => {}, ready: () => sink.drained() })
    this.usage = addedUsage(this.usage, source.facts.usage ?? this.#guessed(at, bytes))
    if (source.facts.error !== null) throw source.facts.error
  }

  /** For an upstream that reports nothing. */
  #guessed(at: number, bytes: number): Usage {
    const inputTotal = Math.ceil(estimateText(String(this.#asked.request.prompts[at])))
    return { ...noUsage(), inputTotal, outputTotal: Math.ceil(bytes / 4), estimated: true }
  }

  #frame(choices: Json[], more: object = {}): string {
    const { created, model } = this.#asked
    return `data: ${JSON.stringify({ id: this.id, object: 'text_completion', created, model, choices, ...more })}\n\n`
  }
}

function choiceOf(index: number, text: string, finish: string | null): Json {
  return { text, index, logprobs: null, finish_reason: finish }
}

function wireUsage({ inputTotal, outputTotal, total }: Usage): object {
  return { prompt_tokens: inputTotal, completion_tokens: outputTotal, total_tokens: total }
}
