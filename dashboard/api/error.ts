// An error answer of the control plane, or the lack of any answer.

export class ApiError extends Error {
  /** HTTP status; 0 when the gateway did not answer. */
  readonly status: number
  /** The field that is wrong, dotted. */
  readonly param: string | null
  readonly code: string | number | null
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | null

  constructor(message: string, status: number, param: string | null, code: string | number | null, retryAfter: number | null) {
    super(message)
    this.status = status
    this.param = param
    this.code = code
    this.retryAfter = retryAfter
  }

  static from(response: Response, body: unknown): ApiError {
    const { message, param, code } = envelopeOf(body)
    const seconds = Number(response.headers.get('retry-after'))
    return new ApiError(
      message ?? `The gateway answered ${response.status}.`,
      response.status,
      param ?? null,
      code ?? null,
      Number.isFinite(seconds) && seconds > 0 ? seconds : null,
    )
  }

  static unreachable(cause: unknown): ApiError {
    if (cause instanceof ApiError) return cause
    return new ApiError('The gateway does not answer.', 0, null, null, null)
  }
}

interface Envelope {
  message?: string
  param?: string | null
  code?: string | number | null
}

function envelopeOf(body: unknown): Envelope {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {}
  const { error } = body
  return typeof error === 'object' && error !== null ? (error as Envelope) : {}
}
