// Parses the script of a simulation, JSON lines: requests with their time, and the behaviour of upstreams over time.
import { z } from 'zod'
import { WORDED } from '../../core/text/issue-text.ts'

/** An upstream's answer to a call. */
export interface UpstreamAnswer {
  /** 0: the connection is refused. */
  readonly status: number
  /** Time until the answer begins, ms. */
  readonly latencyMs: number
  /** Sent as `retry-after`, seconds; null: not sent. */
  readonly retryAfterSecs: number | null
  /** Text of the reply or of the error; null: a default. */
  readonly text: string | null
}

export interface ScriptedRequest {
  /** Ms since the start. */
  readonly at: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string }
}

export interface ScriptedAnswer {
  readonly at: number
  /** `provider/label`, or a provider for all its accounts. */
  readonly upstream: string
  readonly answer: UpstreamAnswer
  /** Line in the file, starting at 1. */
  readonly line: number
}

export interface Script {
  /** Sorted by time. */
  readonly requests: readonly ScriptedRequest[]
  /** Sorted by time. */
  readonly answers: readonly ScriptedAnswer[]
}

export const WORKS: UpstreamAnswer = { status: 200, latencyMs: 100, retryAfterSecs: null, text: null }

/** A limit, because each request runs through the whole gateway. */
const MAX_REQUESTS = 100_000
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const DAY_MS = UNIT_MS.d

const duration = z
  .union([z.number(), z.string()])
  .transform((given, context) => {
    if (typeof given === 'number') return given
    const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(given) ?? []
    if (amount !== undefined) return Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS])
    context.addIssue({ code: 'custom', message: 'must be ms, or a text like 250ms, 90s, 5m, 1h' })
    return z.NEVER
  })
  .pipe(
    z
      .int('must be whole milliseconds')
      .min(0)
      .max(30 * DAY_MS, 'must not be more than 30 days'),
  )

const CHAT = '/v1/chat/completions'
const COMPLETIONS = '/v1/completions'
const QUESTION = [{ role: 'user', content: 'Hello' }]

const repeated = { at: duration.default(0), count: z.int().min(1).max(MAX_REQUESTS).default(1), every: duration.default(1000) }

const fullRequest = z.strictObject({
  ...repeated,
  request: z.looseObject({
    model: z.string().min(1),
    path: z.string().startsWith('/v1').default(CHAT),
    headers: z.record(z.string(), z.string()).default({}),
  }),
})

const shortRequest = z.strictObject({ ...repeated, model: z.string().min(1), stream: z.boolean().default(false) })

const upstreamLine = z.strictObject({
  at: duration.default(0),
  upstream: z.string().min(1),
  answer: z.strictObject({
    status: z.union([z.literal(0), z.int().min(200).max(599)]).default(WORKS.status),
    retry_after: z.number().min(0).nullable().default(null),
    latency_ms: z.int().min(0).max(DAY_MS).default(WORKS.latencyMs),
    text: z.string().nullable().default(null),
  }),
})

/** @throws Error naming the line, the member and the problem. */
export function parseScript(text: string, maxRequests = MAX_REQUESTS): Script {
  const requests: ScriptedRequest[] = []
  const answers: ScriptedAnswer[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const number = index + 1
    const given = objectOf(line, number)
    if ('upstream' in given) answers.push(answerOf(checked(upstreamLine, given, number), number))
    else requests.push(...requestsOf(given, number))
    if (requests.length > maxRequests) throw wrong(number, `there are more than ${maxRequests} requests by now.`)
  }
  if (requests.length === 0) throw new Error('The script asks for nothing. Add a line like {"at":"0s","model":"openai/gpt-4.1"}.')
  return { requests: byTime(requests), answers: byTime(answers) }
}

function objectOf(line: string, number: number): object {
  let given: unknown
  try {
    given = JSON.parse(line)
  } catch {
    throw wrong(number, 'this is not JSON. Write one object on each line.')
  }
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  throw wrong(number, 'this is not an object.')
}

function requestsOf(given: object, number: number): ScriptedRequest[] {
  if ('request' in given) {
    const { request, ...when } = checked(fullRequest, given, number)
    const { path, headers, ...body } = request
    return times(when, { path, headers, body: { ...defaultsOf(path), ...body } })
  }
  if (!('model' in given)) throw wrong(number, 'say `request`, `model` or `upstream`.')
  const { model, stream, ...when } = checked(shortRequest, given, number)
  return times(when, { path: CHAT, headers: {}, body: { model, messages: QUESTION, stream } })
}

function defaultsOf(path: string): object {
  if (path === COMPLETIONS) return { prompt: 'Hello' }
  return path === CHAT ? { messages: QUESTION } : {}
}

function times(
  { at, count, every }: { at: number; count: number; every: number },
  request: Omit<ScriptedRequest, 'at'>,
): ScriptedRequest[] {
  return Array.from({ length: count }, (_, index) => ({ at: at + index * every, ...request }))
}

function answerOf({ at, upstream, answer }: z.output<typeof upstreamLine>, line: number): ScriptedAnswer {
  const { status, retry_after, latency_ms, text } = answer
  return { at, upstream, line, answer: { status, retryAfterSecs: retry_after, latencyMs: latency_ms, text } }
}

function checked<T extends z.ZodType>(schema: T, given: object, number: number): z.output<T> {
  const parsed = schema.safeParse(given, WORDED)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw wrong(number, `${issue?.path.join('.') || 'the object'}: ${issue?.message ?? 'is wrong'}.`)
}

function wrong(number: number, what: string): Error {
  return new Error(`Line ${number} of the script: ${what}`)
}

function byTime<T extends { at: number }>(list: T[]): T[] {
  return list.sort((a, b) => a.at - b.at)
}
