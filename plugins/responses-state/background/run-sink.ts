// Takes the answer of a background run: the events of its stream, or a refusal.
import { createSseSplitter } from '../../../core/stream/sse.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Sink } from '../../../core/types/ports/ports.ts'
import type { SseFrame } from '../../../core/types/request/dialect.ts'
import type { Recorder } from './event-recorder.ts'

export interface RunError {
  readonly code: string
  readonly message: string
}

export class RunSink implements Sink {
  readonly #recorder: Recorder
  readonly #signal: AbortSignal
  readonly #splitter = createSseSplitter()
  readonly #whole: Uint8Array[] = []
  #status = 0
  #isStream = false
  #full = false
  #failed: RunError | null = null

  constructor(recorder: Recorder, signal: AbortSignal) {
    this.#recorder = recorder
    this.#signal = signal
  }

  /** Returns why the run failed; the message of a stored answer never gets here. */
  get error(): RunError {
    if (this.#failed !== null) return this.#failed
    const code = this.#status === 429 ? 'rate_limit_exceeded' : 'server_error'
    if (this.#status === 200)
      return { code, message: 'The answer could not be stored: it was cut, or it is larger than the limit of a turn.' }
    const given = errorIn(decodeUtf8(concatBytes(this.#whole)), 'error')
    const isOwn = this.#status < 500 && given?.code !== undefined
    return { code: isOwn ? String(given.code) : code, message: given?.message ?? 'The response failed.' }
  }

  get gone(): boolean {
    return this.#signal.aborted
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type')
    this.#isStream = status === 200 && (headers[at + 1] ?? '').startsWith('text/event-stream')
  }

  write(chunk: Uint8Array | string): boolean {
    const bytes = typeof chunk === 'string' ? encodeUtf8(chunk) : chunk
    if (this.#isStream) this.#splitter.push(bytes, this.#take)
    else if (this.#status !== 200) this.#whole.push(bytes)
    return !this.#full
  }

  async drained(): Promise<void> {
    if (!this.#full) return
    this.#full = false
    await this.#recorder.flush()
  }

  end(chunk?: Uint8Array | string): void {
    if (chunk !== undefined && chunk.length > 0) this.write(chunk)
    if (this.#isStream) this.#splitter.end(this.#take)
  }

  onGone(fn: () => void): void {
    if (this.#signal.aborted) fn()
    else this.#signal.addEventListener('abort', fn, { once: true })
  }

  readonly #take = ({ event, data }: SseFrame): void => {
    if (data === '' || data === '[DONE]') return
    const type = event ?? /"type"\s*:\s*"([a-z_.]{1,64})"/.exec(data)?.[1] ?? ''
    if (type === 'response.failed') this.#failed = failureIn(data, 'response')
    else if (type === 'error') this.#failed = failureIn(data)
    else if (!this.#recorder.add(type, data)) this.#full = true
  }
}

function failureIn(data: string, member?: string): RunError {
  const given = errorIn(data, 'error', member) ?? errorIn(data, null)
  return { code: String(given?.code ?? 'server_error'), message: given?.message ?? 'The response failed.' }
}

/** @param owner member that has the error's object; null: the text is the error. */
function errorIn(text: string, owner: string | null, around?: string): { code?: unknown; message: string } | null {
  try {
    let value = JSON.parse(text) as Record<string, unknown> | undefined
    if (around !== undefined) value = value?.[around] as typeof value
    if (owner !== null) value = value?.[owner] as typeof value
    const { code, message } = value ?? {}
    return typeof message === 'string' ? { ...(typeof code === 'string' ? { code } : {}), message } : null
  } catch {
    return null
  }
}
