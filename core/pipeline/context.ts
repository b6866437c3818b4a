// Holds one request's state: RequestContext for plugins, and what only the pipeline uses.
// The constructor assigns every field, so that all contexts share one hidden class.
import { EMPTY, withMember, withoutMember } from '../collections/few.ts'
import type { Ticket } from '../collections/swap-remove-list.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { RequestHooks } from '../hooks/compile.ts'
import type { StreamStages } from '../hooks/runners.ts'
import { answerHeaderBag } from '../http/headers.ts'
import { identityIn, SESSION_HEADERS, USER_HEADERS } from '../http/identity-headers.ts'
import { givenId, requestId } from '../ids/ids.ts'
import type { Generation } from '../plugins/generation.ts'
import { catchRejection } from '../timing/catch-rejection.ts'
import type { Ticking } from '../timing/ticker.ts'
import type { GatewayErrorShape, SkipReason } from '../types/error.ts'
import type { HeaderBag, Ingress, Peer } from '../types/ports/ports.ts'
import type { CanonicalRequest, Dialect, Frozen, Json, Operation } from '../types/request/canonical.ts'
import type {
  AnswerRewriter,
  Attempt,
  CachedCall,
  Candidate,
  KeyScope,
  Lease,
  ModelKind,
  Outcome,
  Plan,
  Principal,
  Reply,
  RequestContext,
  Step,
  Target,
} from '../types/request/context.ts'
import type { CodecContext, WireBody } from '../types/request/dialect.ts'
import type { HostContext } from '../types/request/host.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamFacts } from '../types/request/stream.ts'
import { ANONYMOUS, type ContextInit, textOrNull } from './context-init.ts'
import { editable } from './editable.ts'
import type { Stoppable } from './stoppable.ts'

export class RequestState implements RequestContext {
  id: string
  readonly startedAt: number
  readonly startedMonotonic: number
  readonly ingress: Ingress | null
  readonly generation: Generation
  readonly hooks: RequestHooks
  readonly operation: Operation
  readonly scope: KeyScope
  readonly models: ModelKind
  readonly keyRequired: boolean
  dialect: Dialect
  readonly headers: HeaderBag
  readonly source: string
  readonly parent: RequestState | null
  readonly slots: unknown[]
  stream = false
  /** False for a generate-content stream that is sent as a JSON array. */
  sse = true
  requestedModel = ''
  virtualModel: string | null = null
  addedBytes = 0
  principal: Principal = ANONYMOUS
  properties: Record<string, string> | null = null
  plan: Plan | null = null
  candidate: Candidate | null = null
  upstreamHeaders: HeaderBag | null = null
  attempts: readonly Attempt[] = EMPTY
  readonly steps: Step[] = []
  /** Internal calls that are running. */
  calls: Set<RequestState> | null = null
  readonly responseHeaders: HeaderBag = answerHeaderBag()
  cached: Outcome['cached'] = false
  cachedCall: CachedCall | null = null
  rewriter: AnswerRewriter | null = null
  edited = false
  body: WireBody | null = null
  /** The codec context of the attempt that answered; encoders on the way back read its notes. */
  codec: CodecContext | null = null
  stages: StreamStages | null | undefined = undefined
  ticking: Ticket<Ticking> | null = null
  facts: StreamFacts | null = null
  /** The last answer of an upstream: the caller gets it, unless a plugin asks again or throws. */
  lastAnswer: Result | null = null
  /** Bytes of a large whole answer, which is written in several turns of the event loop; 0: every other answer. */
  answerBytes = 0
  lastReadAt: number
  /** Set when a hook ends the request early. The running attempt is aborted with this error. */
  stopped: GatewayErrorShape | null = null
  decode: (() => unknown) | null = null
  taps: readonly ((reply: Reply) => void)[] = EMPTY
  #costCenter: string | null = null
  #sessionId: string | null | undefined = undefined
  #userId: string | null | undefined = undefined
  #request: unknown
  #warnings = ''
  #notes: Record<string, Json> | null = null
  #leases: readonly Lease[] = EMPTY
  #stoppables: readonly Stoppable[] = EMPTY
  #controller: AbortController | null = null
  #settled = false

  constructor(init: ContextInit<RequestState>) {
    this.id = requestId()
    this.startedAt = init.now
    this.startedMonotonic = init.monotonic
    this.lastReadAt = init.monotonic
    this.ingress = init.ingress
    this.generation = init.generation
    this.hooks = init.generation.hooks.of(init.operation)
    this.operation = init.operation
    this.scope = init.scope ?? 'none'
    this.models = init.models ?? 'text'
    this.keyRequired = init.keyRequired ?? false
    this.dialect = init.dialect
    this.headers = init.headers
    this.source = init.source ?? 'api'
    this.parent = init.parent ?? null
    this.slots = new Array(init.slotCount)
  }

  identify(id: string): void {
    this.id = givenId(id, this.plan !== null)
  }

  get peer(): Peer | null {
    return this.ingress?.peer ?? null
  }
  get host(): HostContext | null {
    return this.ingress?.host ?? this.parent?.host ?? null
  }

  /** Read on first use, because most requests carry neither header. */
  get sessionId(): string | null {
    if (this.#sessionId === undefined) this.#sessionId = identityIn(this.headers, SESSION_HEADERS)
    return this.#sessionId
  }
  set sessionId(id: string | null) {
    this.#sessionId = textOrNull(id, 'sessionId')
  }

  get userId(): string | null {
    if (this.#userId === undefined) this.#userId = identityIn(this.headers, USER_HEADERS)
    return this.#userId
  }
  set userId(id: string | null) {
    this.#userId = textOrNull(id, 'userId')
  }

  /** Checked when set: a value that no database column accepts would fail the write of the whole request. */
  get costCenter(): string | null {
    return this.#costCenter
  }
  set costCenter(name: string | null) {
    this.#costCenter = textOrNull(name, 'costCenter')
  }

  get bodyBytes(): number {
    return this.body?.bytes.length ?? 0
  }

  get rawBody(): Uint8Array | null {
    return this.body?.bytes ?? null
  }

  member(name: string): Json | undefined {
    return this.body?.get(name)
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.stopped !== null) this.#controller.abort(this.stopped)
    }
    return this.#controller.signal
  }

  get request(): Frozen<CanonicalRequest> {
    if (this.#request === undefined) {
      if (this.decode === null) throw new Error('The request has no body yet: this hook runs before it is read.')
      this.#request = this.decode()
    }
    return this.#request as Frozen<CanonicalRequest>
  }

  get decoded(): boolean {
    return this.#request !== undefined
  }

  edit(): CanonicalRequest {
    const copy = editable(this.request)
    this.edited = true
    this.#request = copy
    return copy
  }

  skip(candidate: Candidate, reason: SkipReason, until?: number): void {
    if (candidate?.connection === undefined) throw new TypeError('ctx.skip() takes a candidate, a reason, and epoch ms')
    if (until !== undefined && !Number.isFinite(until)) throw new TypeError('ctx.skip(): `until` is a number, epoch ms')
    const skipped = until === undefined ? { reason } : { reason, until }
    this.add({ candidate, startedAt: this.startedAt, action: 'skipped', skipped })
  }

  add(attempt: Attempt): void {
    this.attempts = withMember(this.attempts, attempt)
  }

  /** Takes over an internal call's timeline. That call also lists the skipped accounts of its target, so ours would be duplicates. */
  adopt(attempts: readonly Attempt[], target: Target | undefined): void {
    const own = this.attempts.filter(
      ({ skipped, role, candidate }) => skipped === undefined || role !== undefined || candidate.target !== target,
    )
    this.attempts = [...own, ...attempts]
  }

  warn(text: string): void {
    const slug = text.replace(/[^\x21-\x7e]/g, '_')
    if (this.#warnings === '') this.#warnings = slug
    else if (!this.#warnings.split(',').includes(slug)) this.#warnings += `,${slug}`
  }

  get warnings(): string {
    return this.#warnings
  }

  get notes(): Readonly<Record<string, Json>> | null {
    return this.parent === null ? this.#notes : this.parent.notes
  }

  note(name: string, value: Json): void {
    if (this.parent !== null) return this.parent.note(name, value)
    if (JSON.stringify(value) === undefined) throw new TypeError(`ctx.note(): \`${name}\` is not JSON`)
    this.#notes = { ...this.#notes, [name]: value }
  }

  hold(lease: Lease): void {
    if (this.#settled) throw new Error('The request has been settled: nothing can be held for it any more.')
    if (typeof lease?.settle !== 'function') throw new TypeError('ctx.hold() takes a lease: `{ settle(outcome) { … } }`')
    this.#leases = withMember(this.#leases, lease)
  }

  /** Returns only what identifies the request, for logs. */
  toJSON(): object {
    const { id, operation, dialect, source, stream, requestedModel, virtualModel, principal, costCenter } = this
    return { id, operation, dialect, source, stream, requestedModel, virtualModel, keyId: principal.keyId, costCenter }
  }

  /** Settles every lease once, the last one first. */
  settleLeases(outcome: Outcome, failed: (error: unknown) => void): void {
    this.#settled = true
    const leases = this.#leases
    this.#leases = EMPTY
    for (let at = leases.length - 1; at >= 0; at--) {
      try {
        catchRejection((leases[at] as Lease).settle(outcome), failed)
      } catch (error) {
        failed(error)
      }
    }
  }

  tap(fn: (reply: Reply) => void): void {
    this.taps = withMember(this.taps, fn)
  }

  /** Calls `fn` when the request is stopped; immediately when it already is. Returns a function that unsubscribes. */
  onStop(fn: (reason: GatewayErrorShape) => void): () => void {
    const stoppable: Stoppable = { cancel: fn }
    this.bind(stoppable)
    return () => this.unbind(stoppable)
  }

  /** As `onStop`, without closures: a stream holds what it binds. */
  bind(stoppable: Stoppable): void {
    if (this.stopped !== null) stoppable.cancel(this.stopped)
    else this.#stoppables = withMember(this.#stoppables, stoppable)
  }

  unbind(stoppable: Stoppable): void {
    this.#stoppables = withoutMember(this.#stoppables, stoppable)
  }

  /** Ends the request early: client gone, deadline, drain. The first reason wins. */
  stop(reason: GatewayErrorShape): void {
    if (this.stopped !== null) return
    this.stopped = reason
    this.#controller?.abort(reason)
    const stoppables = this.#stoppables
    this.#stoppables = EMPTY
    for (const stoppable of stoppables) stoppable.cancel(reason)
  }

  /** @throws the reason when the request was stopped. */
  throwIfStopped(): void {
    if (this.stopped !== null) throw GatewayError.from(this.stopped)
  }
}
