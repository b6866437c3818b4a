// The gateway's one error class. Its message is the gateway's own text; egress renders it into a dialect's body, once. Compare with
// GatewayError.is(), not with instanceof: packages may be installed twice.
import { headerName, headerValue } from '../http/header-text.ts'
import type { GatewayErrorShape, SkipReason, UpstreamFailure } from '../types/error.ts'

export interface GatewayErrorInit {
  /** 400 to 599; any other number becomes 500. */
  status: number
  type: string
  code?: string | null
  param?: string | null
  retryAfterMs?: number | null
  skip?: SkipReason | null
  upstream?: Partial<UpstreamFailure> & Pick<UpstreamFailure, 'kind'>
  headers?: readonly string[]
  cause?: unknown
}

export type GatewayErrorPatch = Partial<GatewayErrorInit> & { message?: string }

export class GatewayError extends Error implements GatewayErrorShape {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly retryAfterMs: number | null
  readonly skip: SkipReason | null
  readonly upstream: UpstreamFailure | null
  readonly headers: readonly string[]

  constructor(message: string, init: GatewayErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    this.name = 'GatewayError'
    this.status = Number.isInteger(init.status) && init.status >= 300 && init.status < 600 ? init.status : 500
    this.type = init.type
    this.code = init.code ?? null
    this.param = init.param ?? null
    this.retryAfterMs = Number.isFinite(init.retryAfterMs) ? (init.retryAfterMs as number) : null
    this.skip = init.skip ?? null
    this.headers = init.headers?.map((part, index) => (index % 2 === 0 ? headerName(part) : headerValue(part))) ?? []
    this.upstream = init.upstream ? { status: 0, vendorCode: null, field: null, stale: false, ...init.upstream } : null
  }

  /** Returns the same error with other members. Members that `patch` does not name stay, headers and cause included. */
  with({ message = this.message, ...patch }: GatewayErrorPatch): GatewayError {
    const { status, type, code, param, retryAfterMs, skip, headers, cause } = this
    const upstream = this.upstream ?? undefined
    return new GatewayError(message, { status, type, code, param, retryAfterMs, skip, headers, upstream, cause, ...patch })
  }

  static is(value: unknown): value is GatewayError {
    return value instanceof Error && value.name === 'GatewayError' && 'status' in value
  }

  /** 400: the request itself is invalid; `param` names the field. */
  static invalid(param: string | null, message: string, code: string | null = null): GatewayError {
    return new GatewayError(message, { status: 400, type: 'invalid_request_error', param, code })
  }

  /** 400 before any upstream call: this target does not support the request. Another target may. */
  static unsupported(param: string, message: string): GatewayError {
    return new GatewayError(message, {
      status: 400,
      type: 'invalid_request_error',
      param,
      code: 'unsupported_for_target',
      skip: 'unsupported',
    })
  }

  /** 400: no model or provider has this name. */
  static modelNotFound(model: string, hint = 'Use `<provider>/<model>` with a configured provider.'): GatewayError {
    return GatewayError.invalid('model', `The model \`${model.slice(0, 256)}\` does not exist here. ${hint}`, 'model_not_found')
  }

  static unauthorized(message: string): GatewayError {
    return new GatewayError(message, {
      status: 401,
      type: 'authentication_error',
      code: 'invalid_api_key',
      headers: ['www-authenticate', 'Bearer'],
    })
  }

  static forbidden(message: string): GatewayError {
    return new GatewayError(message, { status: 403, type: 'permission_error' })
  }

  static unknownUrl(method: string, path: string, suggested: string | null = null): GatewayError {
    const hint =
      suggested === null
        ? 'See the routes in the documentation.'
        : `Did you mean ${suggested}? Look at the base URL of your client.`
    return new GatewayError(`Unknown request URL: ${method} ${path.slice(0, 200)}. ${hint}`, {
      status: 404,
      type: 'invalid_request_error',
      code: 'unknown_url',
    })
  }

  static methodNotAllowed(method: string, allow: string): GatewayError {
    return new GatewayError(`${method} is not allowed here; use ${allow}.`, {
      status: 405,
      type: 'invalid_request_error',
      code: 'method_not_allowed',
      headers: ['allow', allow],
    })
  }

  /** 413; `limit` in bytes. */
  static tooLarge(limit: number): GatewayError {
    return new GatewayError(`The request body is larger than the limit of ${limit} bytes for this route.`, {
      status: 413,
      type: 'invalid_request_error',
      code: 'request_too_large',
    })
  }

  /** 402: a budget is exhausted. */
  static budgetExhausted(message: string, retryAfterMs: number | null = null): GatewayError {
    return new GatewayError(message, { status: 402, type: 'insufficient_quota', code: 'budget_exhausted', retryAfterMs })
  }

  /** 429 from the gateway itself: rates, in-flight caps, all accounts in cooldown. */
  static rateLimited(
    message: string,
    retryAfterMs: number | null = null,
    skip: SkipReason | null = null,
    cause?: unknown,
  ): GatewayError {
    return new GatewayError(message, { status: 429, type: 'rate_limit_error', code: 'rate_limited', retryAfterMs, skip, cause })
  }

  /** 400: a guardrail blocked it. */
  static blocked(rule: string, what: 'request' | 'answer' = 'request'): GatewayError {
    return GatewayError.invalid(null, `${what} blocked by guardrail '${rule}'`, 'guardrail_blocked')
  }

  /** 503: no upstream is available now. Also the error of a hook that fails closed. */
  static unavailable(
    message: string,
    options: {
      code?: 'upstream_unavailable' | 'storage_unavailable' | 'plugin_failed' | 'shutting_down' | 'overloaded'
      retryAfterMs?: number
      cause?: unknown
    } = {},
  ): GatewayError {
    return new GatewayError(message, {
      status: 503,
      type: 'api_error',
      code: options.code ?? 'upstream_unavailable',
      retryAfterMs: options.retryAfterMs ?? null,
      cause: options.cause,
    })
  }

  /** 502 without an upstream status: the upstream was unreachable or broke the connection. */
  static network(
    kind: UpstreamFailure['kind'],
    message: string,
    options: { stale?: boolean; cause?: unknown } = {},
  ): GatewayError {
    return new GatewayError(message, {
      status: 502,
      type: 'api_error',
      code: 'upstream_error',
      upstream: { kind, stale: options.stale ?? false },
      cause: options.cause,
    })
  }

  /** 502: the upstream's answer is unreadable. */
  static protocol(message: string, cause?: unknown): GatewayError {
    return new GatewayError(message, {
      status: 502,
      type: 'api_error',
      code: 'upstream_error',
      upstream: { kind: 'protocol' },
      cause,
    })
  }

  /** 504: the connect, idle or deadline timeout passed. */
  static timeout(message: string): GatewayError {
    return new GatewayError(message, { status: 504, type: 'api_error', code: 'upstream_timeout', upstream: { kind: 'timeout' } })
  }

  /** 499: the client left. It is never sent, only recorded. */
  static clientGone(): GatewayError {
    return new GatewayError('The client closed the connection.', {
      status: 499,
      type: 'api_error',
      code: 'client_closed_request',
    })
  }

  /** An upstream's failure. `upstreamStatus()` decides the caller's status after the last attempt. */
  static upstream(
    status: number,
    message: string,
    detail: {
      type?: string | null
      code?: string | null
      param?: string | null
      retryAfterMs?: number | null
      field?: string | null
      fieldTooLong?: boolean
      kind?: 'status' | 'stream'
    } = {},
  ): GatewayError {
    return new GatewayError(message, {
      status,
      type: detail.type ?? unnamedType(status, detail.kind ?? 'status'),
      code: detail.code ?? null,
      param: detail.param ?? null,
      retryAfterMs: detail.retryAfterMs ?? null,
      upstream: {
        kind: detail.kind ?? 'status',
        status,
        vendorCode: detail.code ?? detail.type ?? null,
        field: detail.field ?? null,
        ...(detail.fieldTooLong === true ? { fieldTooLong: true } : {}),
      },
    })
  }

  /** Returns a GatewayError unchanged and wraps any other thrown value in a 500. */
  static from(thrown: unknown): GatewayError {
    if (GatewayError.is(thrown)) return thrown
    return new GatewayError('The gateway failed to handle this request.', {
      status: 500,
      type: 'api_error',
      code: 'internal_error',
      cause: thrown,
    })
  }
}

/**
 * Returns the type for an upstream error without one. After a status 200 the error is never the caller's mistake, because the upstream
 * had accepted the request.
 */
export function unnamedType(status: number, kind: UpstreamFailure['kind']): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 || kind === 'stream' ? 'api_error' : 'invalid_request_error'
}

/** The wire envelope: `param` and `code` are always present. */
export function envelope(error: GatewayErrorShape): {
  error: { message: string; type: string; param: string | null; code: string | null }
} {
  return { error: { message: error.message, type: error.type, param: error.param, code: error.code } }
}
