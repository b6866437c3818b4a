// Converts between messages and items with the codec of the responses dialect. No upstream is called.
import { headerBag } from '../http/headers.ts'
import { jsonBytes } from '../json/json-bytes.ts'
import { writtenBody } from '../json/wire-body.ts'
import { noUsage } from '../models/token-estimate.ts'
import { driver, type Runtime } from '../pipeline/runtime.ts'
import { concatBytes, decodeUtf8 } from '../text/bytes.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message } from '../types/request/canonical.ts'
import type { CodecContext } from '../types/request/dialect.ts'
import type { ResponseItems } from '../types/request/response-items.ts'

const DIALECT = 'responses'

export function responseItems(runtime: Runtime): ResponseItems {
  const codec = () => driver(runtime, DIALECT)
  return {
    write(messages) {
      const request = requestOf(messages)
      const { body } = codec().encodeRequest(request, context(request))
      const { input } = JSON.parse(decodeUtf8(concatBytes(body.toBytes()))) as { input: JsonObject[] }
      return input
    },
    read(items) {
      if (items.length === 0) return []
      const body = writtenBody(jsonBytes({ input: items, previous_response_id: 'any' }))
      const { system, messages } = codec().decodeRequest(body, headerBag([]), { operation: 'chat' })
      return [...system.map(({ role, parts }): Message => ({ role, parts })), ...messages]
    },
    pending(request, id, model, now) {
      const created = Math.floor(now / 1000)
      const ext = { responses: { status: 'queued' } }
      const text = codec().encodeResponse({ id, created, model, choices: [], usage: noUsage(), ext }, context(request))
      return { ...(JSON.parse(text) as JsonObject), completed_at: null, error: null, incomplete_details: null, usage: null }
    },
  }
}

function context(request: Frozen<CanonicalRequest>): CodecContext {
  let ids = 0
  return {
    provider: 'gateway',
    model: request.model,
    caller: DIALECT,
    upstream: DIALECT,
    operation: 'chat',
    caps: { family: '' },
    quirks: {},
    requestId: '',
    stream: false,
    includeUsage: false,
    sse: true,
    names: new Map(),
    notes: new Map(),
    request,
    warn() {},
    now: () => 0,
    id: (prefix) => `${prefix}item${ids++}`,
  }
}

function requestOf(messages: readonly Message[]): Frozen<CanonicalRequest> {
  return {
    model: '',
    stream: false,
    source: DIALECT,
    system: [],
    messages,
    tools: [],
    sampling: {},
    // A result without its call is legal: the call is in an earlier turn.
    state: { previousResponseId: '' },
    headers: {},
    ext: {},
  }
}
