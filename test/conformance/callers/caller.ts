// A caller: one official SDK that sends an Ask and returns the answer in neutral form.
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { wordCode } from '../../support/google-error.ts'
import type { Answer, Ask } from '../neutral.ts'
import type { Wire } from '../readers/wire.ts'

export interface Failure {
  status: number
  message: string
  /** The other members of the envelope. */
  code: unknown
  param: unknown
  retryAfter: string | null
}

export interface Observed {
  answer: Answer | null
  failure: Failure | null
  id: string
  /** The assistant turn as the SDK returned it, for the next Ask. */
  native: unknown
  /** Number of pieces of the text. */
  deltas: number
  /** The request body as the SDK sent it. */
  sent: Wire
  warnings: string[]
  /** The exact answer body. */
  raw: string
}

export interface Caller {
  readonly dialect: Dialect
  /** Returns error answers as values; throws for anything that a client must not see. */
  send(model: string, ask: Ask, stream: boolean): Promise<Observed>
}

/** The result of one SDK call. */
export interface Told {
  id: string
  answer: Answer
  native: unknown
  deltas: number
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

interface Recording {
  fetch: Fetch
  sent: Wire
  headers: Headers
  raw: Promise<string>
}

/** A fetch that records its requests and answers. */
export function recordingFetch(): Recording {
  const recording: Recording = {
    sent: {},
    headers: new Headers(),
    raw: Promise.resolve(''),
    async fetch(input, init) {
      recording.sent = JSON.parse(String(init?.body ?? '{}')) as Wire
      const response = await fetch(input, init)
      recording.headers = response.headers
      recording.raw = response.clone().text()
      return response
    },
  }
  return recording
}

/** Runs one SDK call. `isApiError`: the SDK's own class for an HTTP error; all other errors are rethrown. */
export async function observe(
  recording: Recording,
  call: () => Promise<Told>,
  isApiError: (thrown: unknown) => thrown is Error & { status?: number },
): Promise<Observed> {
  let told: Told | null = null
  let failure: Failure | null = null
  try {
    told = await call()
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.status === undefined) throw thrown
    const { error } = JSON.parse(await recording.raw) as { error: Wire }
    if (!thrown.message.includes(error.message as string)) throw new Error(`The SDK does not show the message: ${thrown.message}`)
    const retryAfter = recording.headers.get('retry-after')
    failure = { status: thrown.status, message: error.message as string, code: wordCode(error), param: error.param, retryAfter }
  }
  const warnings = recording.headers.get('x-gateway-warnings')
  return {
    answer: told?.answer ?? null,
    failure,
    id: told?.id ?? '',
    native: told?.native,
    deltas: told?.deltas ?? 0,
    sent: recording.sent,
    warnings: warnings === null ? [] : warnings.split(',').map((slug) => slug.trim()),
    raw: await recording.raw,
  }
}
