// Runs the filters of a gateway one after the other in each stage of a request, and carries out their decisions.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { replaySource } from '../../core/pipeline/whole-answer.ts'
import { rootOf } from '../../core/records/root-request.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import type { Outcome, RequestContext, Slot } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import { acceptRequest, acceptResponse } from './acceptance.ts'
import type { Denial } from './decision.ts'
import { FilterFailure } from './failure.ts'
import type { Filter, Seat } from './filter.ts'
import { type StreamShape, streamShape } from './stream-shape.ts'

export interface FilteringInit {
  readonly filters: readonly Filter[]
  readonly failOpen: boolean
  readonly states: Slot<RequestFilters>
  readonly answers: Slot<CanonicalResponse>
  /** Prevents caches from storing the answer of this request. */
  unfit(ctx: RequestContext): void
}

/** State of the caller's request, shared by its internal calls. */
export interface RequestFilters {
  /** By filter. */
  readonly seats: Map<Filter, Seat>
  /** By call. */
  readonly calls: Map<RequestContext, { readonly streams: Map<Filter, FilteredStream> }>
}

interface FilteredStream {
  readonly shape: StreamShape
  seq: number
  /** True when it failed: it is skipped for the rest of the stream. */
  passed: boolean
}

// A guest's view of a request. It names the caller, but never shows a credential.
const ABI = 1

function guestContext(ctx: RequestContext): object {
  return {
    request_id: ctx.id,
    /** Id of the caller's request, when this is an internal call. */
    parent_id: ctx.parent?.id ?? null,
    operation: ctx.operation,
    dialect: ctx.dialect,
    model: ctx.requestedModel,
    key_id: ctx.principal.keyId,
    key_label: ctx.principal.label,
    org_id: ctx.principal.orgId,
    stream: ctx.stream,
  }
}

/** Returns the headers that the manifest lists and the caller sent. */
function guestHeaders(ctx: RequestContext, names: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of names) {
    const value = ctx.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return headers
}

export function filtering({ filters, failOpen, states, answers, unfit }: FilteringInit) {
  const stateOf = (ctx: RequestContext): RequestFilters => {
    const root = rootOf(ctx)
    let state = states.get(root)
    if (state === undefined) {
      state = { seats: new Map(), calls: new Map() }
      states.set(root, state)
    }
    if (!state.calls.has(ctx)) state.calls.set(ctx, { streams: new Map() })
    return state
  }
  const seatOf = (ctx: RequestContext, filter: Filter): Seat => {
    const { seats } = stateOf(ctx)
    let seat = seats.get(filter)
    if (seat === undefined) {
      seat = filter.seat()
      seats.set(filter, seat)
    }
    return seat
  }
  /** undefined: it failed and is skipped. @throws GatewayError 503 when it must not be skipped, and the filter's own denial. */
  const asked = async <D extends { action: string }>(ctx: RequestContext, filter: Filter, run: () => Promise<D>) => {
    try {
      const decision = await run()
      if (decision.action !== 'continue') noted(ctx, filter, decision.action)
      if (decision.action === 'deny') throw denied(decision as unknown as Denial)
      return decision
    } catch (error) {
      if (!(error instanceof FilterFailure)) throw error
      noted(ctx, filter, 'failed')
      if (failOpen) {
        unfit(rootOf(ctx))
        return undefined
      }
      const why = `The WASM filter \`${filter.name}\` failed (${error.reason}), and its policy is to refuse the request then.`
      throw GatewayError.unavailable(why, { code: 'plugin_failed', cause: error })
    }
  }
  const taking = (hook: 'request' | 'response' | 'chunk') => filters.filter(({ hooks }) => hooks.has(hook))

  return {
    async request(ctx: RequestContext<'chat'>): Promise<void> {
      for (const filter of taking('request')) {
        const { request } = ctx
        const input = { abi: ABI, ctx: guestContext(ctx), headers: guestHeaders(ctx, filter.headers), request }
        const decision = await asked(ctx, filter, () =>
          filter.onRequest(seatOf(ctx, filter), input, (made) => {
            if (made.action === 'replace') acceptRequest(request, made.request)
            if (made.action === 'respond' && ctx.operation !== 'chat')
              throw new FilterFailure('bad_output', 'It answered a request that asks for no answer of a model.')
          }),
        )
        if (decision?.action === 'replace') replaceRequest(ctx, decision.request)
        if (decision?.action === 'respond') return answers.set(ctx, decision.response)
      }
    },

    answer(ctx: RequestContext): Result | undefined {
      const response = answers.get(ctx)
      if (response === undefined) return undefined
      return ctx.stream ? { kind: 'stream', source: replaySource(response) } : { kind: 'full', response }
    },

    async response(ctx: RequestContext, first: Frozen<CanonicalResponse>): Promise<Frozen<CanonicalResponse>> {
      let response = first
      for (const filter of taking('response')) {
        const before = response
        const input = { abi: ABI, ctx: guestContext(ctx), response: before }
        const decision = await asked(ctx, filter, () =>
          filter.onResponse(seatOf(ctx, filter), input, (made) => {
            if (made.action === 'replace') acceptResponse(before, made.response)
          }),
        )
        if (decision?.action === 'replace') response = { ...decision.response, usage: before.usage }
      }
      return response
    },

    async batch(ctx: RequestContext, first: StreamEvent[]): Promise<StreamEvent[]> {
      let events = first
      for (const filter of taking('chunk')) {
        if (events.length === 0) break
        const before = events
        const stream = streamOf(stateOf(ctx), ctx, filter)
        if (stream.passed) continue
        const last = before.some(({ e }) => e === 'end' || e === 'error')
        const input = { abi: ABI, ctx: guestContext(ctx), seq: stream.seq++, last, events: before }
        const decision = await asked(ctx, filter, () =>
          filter.onChunk(seatOf(ctx, filter), input, (made) => {
            if (made.action === 'replace') events = stream.shape.replaced(before, made.events)
            else stream.shape.passed(before)
          }),
        )
        if (decision === undefined) stream.passed = true
      }
      return events
    },

    async settled(ctx: RequestContext, { status }: Outcome): Promise<void> {
      const state = states.get(ctx)
      if (state === undefined) return
      const ended = [...state.seats].flatMap(([filter, seat]) =>
        [...state.calls.keys()].map((call) => filter.onEnd(seat, { abi: ABI, ctx: guestContext(call), status })),
      )
      await Promise.all(ended)
    },
  }
}

function streamOf(state: RequestFilters, ctx: RequestContext, filter: Filter): FilteredStream {
  const { streams } = state.calls.get(ctx) as { streams: Map<Filter, FilteredStream> }
  let stream = streams.get(filter)
  if (stream === undefined) {
    stream = { shape: streamShape(), seq: 0, passed: false }
    streams.set(filter, stream)
  }
  return stream
}

function replaceRequest(ctx: RequestContext<'chat'>, request: CanonicalRequest): void {
  const target = ctx.edit()
  const { model, stream, source, headers } = target
  for (const name of Object.keys(target)) if (!Object.hasOwn(request, name)) delete target[name as keyof CanonicalRequest]
  Object.assign(target, request, { model, stream, source, headers })
}

/** Records each filter's last action. */
function noted(ctx: RequestContext, { name }: Filter, action: string): void {
  const before = ctx.notes?.wasm_filters
  if (isObject(before) && before[name] === action) return
  ctx.note('wasm_filters', { ...(isObject(before) && before), [name]: action })
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The status is always a refusal, 400 to 499, whatever the filter returns. */
function denied({ status, message, code }: Denial): GatewayError {
  const clamped = Math.min(Math.max(status, 400), 499)
  return new GatewayError(message, {
    status: clamped,
    type: TYPES[clamped] ?? 'invalid_request_error',
    code: code ?? 'filter_denied',
  })
}

const TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' }
