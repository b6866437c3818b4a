// Wraps each upstream call: admits probes, takes the in-flight slot, and applies the result to the account. A whole answer counts when it
// arrives, a stream when it ends. A stream that breaks after its first content is a failure; one that the caller leaves has no effect.
import { isConversation } from '../../../core/calls/conversation.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isReplay } from '../../../core/records/replays.ts'
import { rootOf } from '../../../core/records/root-request.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { Candidate, Lease, RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import type { StreamSource } from '../../../core/types/request/stream.ts'
import type { AccountBook, Sent } from '../accounts/account-book.ts'
import { PROBE_LEASE_MS } from '../accounts/breaker.ts'
import { type Effect, effectOf } from '../accounts/effects.ts'
import type { ErrorRules } from '../accounts/error-rules.ts'
import type { EarlyProbes } from '../probes/early-probes.ts'
import { isTest, skipping } from './candidates.ts'
import type { Capacity } from './capacity.ts'
import type { CooldownWait } from './cooldown-wait.ts'
import { lockName } from './lock-name.ts'
import type { Renewal } from './renewal.ts'

export interface AttemptParts {
  gateway: PluginGateway
  book: AccountBook
  early: EarlyProbes
  capacity: Capacity
  rules: ErrorRules
  wait: CooldownWait
  outage(connection: Connection): void
  renewal: Renewal
  /** True: other processes send probes, too. */
  shared: boolean
}

type Next = () => Promise<Result>

export function attemptHook(parts: AttemptParts): (ctx: RequestContext, candidate: Candidate, next: Next) => Promise<Result> {
  const { book, early, capacity, gateway } = parts
  return (ctx, candidate, next) => {
    const { connection, target } = candidate
    const state = book.of(connection.id)
    const test = isTest(ctx)
    const limit = capacity.limitOf(connection, isReplay(ctx))
    const now = state.quiet ? 0 : gateway.clock.monotonic()
    const lock = lockName(ctx, target.model)
    // Time may have passed since the candidates were chosen.
    const block = test ? null : state.blocked(connection, lock, now)
    const everyMs = block?.reason === 'circuit_open' ? early.everyMs(ctx, now) : null
    const looks = everyMs !== null && state.admitsEarly(connection, lock, now, everyMs)
    if (block !== null && !looks) return Promise.reject(skipping(block, now))
    const start = (probe: boolean, release: () => void): Promise<Result> => {
      const access = book.accessOf(connection)
      const sent: Sent = { state, connection, access, model: target.model, lock, seen: state.serial, probe, test }
      state.inflight++
      return new AttemptRun(parts, ctx, sent, release).run(next)
    }
    if (limit === null && (state.breaker.closed || test)) return start(false, nothing)
    return admitted(parts, candidate, { limit, test, everyMs }).then(({ probe, release }) => start(probe, release))
  }
}

/** @throws GatewayError with `skip` when the account is at capacity, or another request is the probe. */
async function admitted(
  { book, capacity, gateway, shared }: AttemptParts,
  { connection }: Candidate,
  { limit, test, everyMs }: { limit: number | null; test: boolean; everyMs: number | null },
): Promise<{ probe: boolean; release: () => void }> {
  const state = book.of(connection.id)
  const { breaker } = state
  const release = limit === null ? nothing : await capacity.account(connection, limit)
  if (breaker.closed || test) return { probe: false, release }
  const now = gateway.clock.monotonic()
  const name = `probe:${connection.id}:${breaker.reopenings}:${breaker.probes}:${Math.round(state.circuitAt)}`
  try {
    const begun = breaker.beginProbe(now) || (everyMs !== null && breaker.beginEarlyProbe(now, everyMs))
    if (begun && (!shared || (await gateway.counters.once(name, PROBE_LEASE_MS)))) return { probe: true, release }
  } catch (error) {
    release()
    throw error
  }
  release()
  throw skipping({ reason: 'circuit_open', until: breaker.admitsAt(now), lock: null }, now)
}

class AttemptRun implements Lease {
  readonly #parts: AttemptParts
  readonly #ctx: RequestContext
  readonly #sent: Sent
  readonly #release: () => void
  #retried = false
  #renewed = false
  readonly #renewals: number
  #last: GatewayError | null = null
  #stream: StreamSource | null = null

  constructor(parts: AttemptParts, ctx: RequestContext, sent: Sent, release: () => void) {
    this.#parts = parts
    this.#ctx = ctx
    this.#sent = sent
    this.#release = release
    this.#renewals = parts.renewal.count(sent.connection.id)
  }

  run(next: Next): Promise<Result> {
    return next().then(
      (result) => {
        if (result.kind === 'stream') this.#untilItsEnd(result)
        else this.#ended(null)
        return result
      },
      (thrown) => this.#failed(GatewayError.from(thrown), next),
    )
  }

  async #failed(error: GatewayError, next: Next): Promise<Result> {
    if (error.upstream === null || error.skip !== null) {
      this.#ended(error)
      throw error
    }
    // The request has used all its calls: this failure was already counted.
    if (error === this.#last) {
      this.#free()
      throw error
    }
    this.#last = error
    if (await this.#otherCredential(error)) return this.run(next)
    let effect: Effect
    let again: boolean
    try {
      effect = this.#effectOf(error)
      this.#note(error, effect)
      again = effect.again === true || (await this.#parts.wait(this.#ctx, this.#sent.connection.id, effect.waitMs))
    } catch (reason) {
      this.#free()
      throw reason
    }
    if (again) {
      this.#retried ||= effect.again === true
      this.#sent.seen = this.#sent.state.serial
      return this.run(next)
    }
    this.#free()
    throw effect.walk === undefined ? error : walking(error, effect.walk)
  }

  /** Once for each call. When the new credential is refused too, the refusal counts. */
  async #otherCredential(error: GatewayError): Promise<boolean> {
    if (error.upstream?.status !== 401 || this.#renewed) return false
    this.#renewed = true
    return this.#parts.renewal.renewed(this.#sent.connection, this.#renewals)
  }

  #effectOf(error: GatewayErrorShape): Effect {
    const { connection, model } = this.#sent
    const byRule = this.#parts.rules({ error, provider: connection.provider, model })
    return byRule === null || (byRule.again && this.#retried) ? effectOf(error, isConversation(this.#ctx)) : byRule
  }

  #note(error: GatewayErrorShape, effect: Effect): void {
    const { book, outage } = this.#parts
    book.failed(this.#sent, error, effect)
    const { status, kind, stale } = error.upstream as NonNullable<GatewayErrorShape['upstream']>
    if ((status === 0 && kind !== 'proxy' && !stale) || (status >= 300 && status < 400) || status >= 500)
      outage(this.#sent.connection)
  }

  #untilItsEnd({ source }: Extract<Result, { kind: 'stream' }>): void {
    this.#stream = source
    try {
      // A step of another request settles with that request.
      rootOf(this.#ctx).hold(this)
    } catch {
      // The attempt has settled, so this stream is not read.
      this.#ended(GatewayError.clientGone())
    }
  }

  /** The request that read the stream has settled. */
  settle(): void {
    this.#ended(this.#stream?.facts.error ?? null)
  }

  #ended(error: GatewayErrorShape | null): void {
    const { book } = this.#parts
    if (error === null) book.succeeded(this.#sent)
    else if (error.upstream === null || error.skip !== null) book.toldNothing(this.#sent)
    else this.#note(error, this.#effectOf(error))
    this.#free()
  }

  #free(): void {
    this.#sent.state.inflight--
    this.#release()
  }
}

/** Returns the same error with the operator's choice of the next step. */
function walking(error: GatewayError, walk: NonNullable<Effect['walk']>): GatewayError {
  const { upstream } = error
  return error.with({ upstream: { ...(upstream as NonNullable<typeof upstream>), walk } })
}

function nothing(): void {}
