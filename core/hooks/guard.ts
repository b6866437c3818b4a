// Isolates one handler. A thrown GatewayError is a decision and passes. Any other error is a bug of that plugin: it is counted and
// logged, then the hook fails closed (503) or open (the handler is skipped).
import { GatewayError } from '../errors/gateway-error.ts'
import { errorText } from '../text/error-text.ts'
import type { Deadlines } from '../timing/deadlines.ts'
import type { Clock, Logger } from '../types/ports/ports.ts'
import type { Operation } from '../types/request/canonical.ts'
import type { RequestContext } from '../types/request/context.ts'
import { HOOKS } from './catalogue.ts'
import type { AnyHandler, Registration } from './registry.ts'
import { isThenable, kindOf, RETURNS, type ReturnType } from './returned.ts'

export interface GuardEnv {
  /** True: answers and events that plugins get are frozen. */
  readonly strict?: boolean
  readonly clock: Clock
  /** For handlers that set no timeout. */
  readonly hookTimeout?: { readonly ms: number; readonly deadlines: Deadlines } | null
  readonly log: Logger
  /** Counts a plugin's failure in `gateway_plugin_errors_total`. @param refused true: the request was refused. */
  failed(plugin: string, hook: string, refused: boolean): void
}

/** Number of consecutive failures after which one `plugin.degraded` line is logged. */
const DEGRADED_AFTER = 5

export class GuardedHandler {
  readonly plugin: string
  readonly hook: string
  readonly fn: AnyHandler
  readonly when: ((ctx: RequestContext) => boolean) | undefined
  readonly open: boolean
  readonly #operations: Registration['operations']
  readonly #env: GuardEnv
  readonly #returns: ReturnType | undefined
  readonly timeoutMs: number
  readonly #bounded: boolean
  #failures = 0
  /** Runs that ended without an error, and runs that refused their request. */
  ran = 0
  refused = 0

  constructor(entry: Registration, env: GuardEnv) {
    this.plugin = entry.plugin
    this.hook = entry.hook
    this.fn = entry.fn
    this.when = entry.options.when
    this.#operations = entry.operations
    this.open = (entry.options.onError ?? HOOKS[entry.hook].onError) === 'open'
    this.timeoutMs = entry.options.timeoutMs ?? HOOKS[entry.hook].timeoutMs ?? 0
    this.#bounded = HOOKS[entry.hook].bounded === true && this.timeoutMs === 0
    this.#env = env
    this.#returns = RETURNS[entry.hook]
  }

  /** True when the handler may run for requests of this operation. */
  serves(operation: Operation): boolean {
    return this.#operations === null || this.#operations.has(operation)
  }

  /** True when the handler applies to this request. The caller has checked the operation. */
  applies(ctx: RequestContext): boolean {
    if (this.when === undefined) return true
    let applies: unknown
    try {
      applies = this.when(ctx)
    } catch (error) {
      this.failed(error)
      return false
    }
    return typeof applies === 'boolean' ? applies : Boolean(applies) && !this.promised(applies, '`when`')
  }

  /** Returns the handler's return value; undefined when it returned none, or when the hook fails open and refuses the value. `counted`: of `settle`. */
  taken<T>(value: T, counted = false): NonNullable<T> | undefined {
    const nothing = value === undefined || value === null
    if (nothing || this.#returns === undefined || this.#returns.fits(value)) {
      if (!counted) this.succeeded()
      return nothing ? undefined : value
    }
    if (isThenable(value)) this.promised(value)
    else this.failed(new TypeError(`it returned ${kindOf(value)} that is no ${this.#returns.noun}`))
    return undefined
  }

  /**
   * Synchronous hooks do not await. A returned promise is a bug of the plugin: log its rejection instead of ending the process. Returns
   * true when the value was a promise.
   */
  promised(value: unknown, what = `\`${this.hook}\``): boolean {
    if (!isThenable(value)) return false
    value.then(undefined, (error: unknown) => this.#report(error))
    this.failed(new TypeError(`${what} is synchronous, and it returned a promise, which is not awaited`))
    return true
  }

  /** Reports what the handler threw; returns only when the handler fails open. */
  failed(thrown: unknown): void {
    if (GatewayError.is(thrown)) {
      this.refused++
      throw thrown
    }
    this.#failures++
    this.#env.failed(this.plugin, this.hook, !this.open)
    this.#report(thrown)
    if (this.#failures === DEGRADED_AFTER)
      this.#env.log.error('plugin.degraded', { plugin: this.plugin, hook: this.hook, failures: this.#failures })
    if (this.open) return
    throw GatewayError.unavailable(
      `The plugin \`${this.plugin}\` failed in \`${this.hook}\`, and its policy is to refuse the request then.`,
      {
        code: 'plugin_failed',
        cause: thrown,
      },
    )
  }

  #report(thrown: unknown): void {
    this.#env.log.error('plugin.error', { plugin: this.plugin, hook: this.hook, error: errorText(thrown) })
  }

  succeeded(): void {
    this.#failures = 0
    this.ran++
  }

  /** Awaits the handler under its timeout. Resolves to undefined when it failed open. */
  async settle<T>(promise: PromiseLike<T>): Promise<T | undefined> {
    try {
      const value = await (this.timeoutMs > 0 ? this.withTimeout(promise) : this.#bounded ? this.#withDefault(promise) : promise)
      this.succeeded()
      return value
    } catch (error) {
      this.failed(error)
      return undefined
    }
  }

  #withDefault<T>(promise: PromiseLike<T>): PromiseLike<T> {
    const { hookTimeout } = this.#env
    return hookTimeout ? hookTimeout.deadlines.within(promise, hookTimeout.ms) : promise
  }

  withTimeout<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#env.clock.timer(this.timeoutMs, () => reject(new Error(`timed out after ${this.timeoutMs} ms`)))
      Promise.resolve(promise)
        .then(resolve, reject)
        .finally(() => timer.cancel())
    })
  }
}
