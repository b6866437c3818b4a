// The data-plane call of a draft request: its path, and the body without the members that are in the path.
import { GatewayError } from '../errors/gateway-error.ts'
import { headerBag } from '../http/headers.ts'
import { encodeUtf8 } from '../text/bytes.ts'
import type { DraftRequest } from '../types/playground.ts'
import type { ActsFor, Ingress } from '../types/ports/ports.ts'
import type { Dialect } from '../types/request/canonical.ts'

export interface DraftCall {
  readonly path: string
  readonly query: string
  readonly body: Uint8Array
}

const PATHS: Readonly<Partial<Record<Dialect, string>>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}

/** @throws GatewayError 400 for a wrong `model` or `stream`. */
export function draftCall({ dialect, body }: DraftRequest): DraftCall {
  if (dialect !== 'generate_content') {
    const path = PATHS[dialect]
    if (path === undefined) throw GatewayError.invalid('dialect', `No draft can be sent in the dialect \`${dialect}\`.`)
    return { path, query: '', body: encodeUtf8(JSON.stringify(body)) }
  }
  const { model, stream, ...rest } = body
  if (typeof model !== 'string' || model === '')
    throw GatewayError.invalid('model', model === undefined ? '`model` is required.' : '`model` must be a non-empty string.')
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw GatewayError.invalid('stream', '`stream` must be a boolean.')
  const verb = stream === true ? 'streamGenerateContent' : 'generateContent'
  return {
    path: `/v1beta/models/${encodeURIComponent(model).replaceAll('%2F', '/')}:${verb}`,
    query: stream === true ? 'alt=sse' : '',
    body: encodeUtf8(JSON.stringify(rest)),
  }
}

export function draftIngress({ path, query, body }: DraftCall, actsFor: ActsFor): Ingress {
  return {
    method: 'POST',
    path,
    query,
    headers: headerBag(['content-type', 'application/json', 'content-length', String(body.length)]),
    peer: { address: null, local: true, secure: true },
    actsFor,
    body: async (limit) => {
      if (body.length > limit) throw GatewayError.tooLarge(limit)
      return body
    },
    async *chunks() {
      yield body
    },
  }
}
