// The error of a call that was refused or not answered.

export class HookgateError extends Error {
  override readonly name = 'HookgateError'
  /** HTTP status; 0: there was no answer. */
  readonly status: number
  /** The word of the refusal: `invalid_request`, `not_found` …; `unreachable`: there was no answer. */
  readonly code: string | null
  /** The field that is wrong, dotted. */
  readonly param: string | null
  /** The id of the request in the gateway's log lines. */
  readonly requestId: string | null
  /** Milliseconds after which a retry makes sense; null: the gateway did not say. */
  readonly retryAfterMs: number | null

  constructor(message: string, facts: Partial<Omit<HookgateError, keyof Error>> & { status: number }, options?: ErrorOptions) {
    super(message, options)
    this.status = facts.status
    this.code = facts.code ?? null
    this.param = facts.param ?? null
    this.requestId = facts.requestId ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}

/** Reads the error envelope of a refusal. */
export async function refusalOf(response: Response, what: string): Promise<HookgateError> {
  const { message, code, param } = envelopeIn(await response.json().catch(() => null))
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new HookgateError(text(message) ?? `${what}: ${response.status}`, {
    status: response.status,
    code: text(code),
    param: text(param),
    requestId: response.headers.get('x-gateway-request-id'),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  })
}

/** Returns the error for a call without an answer. */
export function unreachable(cause: unknown, what: string): HookgateError {
  return new HookgateError(`${what}: the gateway does not answer.`, { status: 0, code: 'unreachable' }, { cause })
}

function envelopeIn(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {}
  return typeof body.error === 'object' && body.error !== null ? (body.error as Record<string, unknown>) : {}
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
