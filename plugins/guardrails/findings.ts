// Findings in a request and its answer: counted for the log and the metrics, never quoted.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Action, Direction } from './service.ts'

/** As the log shows it. */
type Found = { detector: string; entity: string; action: Action; direction: Direction; count: number }

const MAX_NAME = 64
const MAX_KINDS = 100

export class Findings {
  readonly #ctx: RequestContext
  readonly #counted: (detector: string, action: Action | 'failed') => void
  readonly #all = new Map<string, Found>()

  constructor(ctx: RequestContext, counted: (detector: string, action: Action | 'failed') => void) {
    this.#ctx = ctx
    this.#counted = counted
  }

  failed(detector: string): void {
    this.#counted(detector, 'failed')
  }

  /** @throws GatewayError 400 when it is to be blocked. */
  add(detector: string, entity: string, action: Action, direction: Direction): void {
    // A third-party detector may use any name.
    const name = entity.slice(0, MAX_NAME)
    const key = `${detector} ${name} ${action} ${direction}`
    const found = this.#all.get(key) ?? { detector, entity: name, action, direction, count: 0 }
    found.count++
    if (found.count > 1 || this.#all.size < MAX_KINDS) this.#all.set(key, found)
    this.#counted(detector, action)
    this.#ctx.note(
      'guardrails',
      [...this.#all.values()].map((one) => ({ ...one })),
    )
    if (action === 'block') throw GatewayError.blocked(detector, direction === 'input' ? 'request' : 'answer')
  }
}
