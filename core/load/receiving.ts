// Limits the request bodies that are being received: their bytes in total and for each key, and their speed. The declared length is
// checked before reading; the bytes are counted while they arrive.
import { SwapRemoveList, type Ticket } from '../collections/swap-remove-list.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { TallySeries } from '../types/plugin/plugin.ts'
import type { BodyMeter, Clock, Timer } from '../types/ports/ports.ts'
import { Uploads } from './uploads.ts'

export interface ReceivingLimits {
  /** Bytes of all bodies that are being received. */
  readonly total: number
  /** Limit for one client key, or for one address without a key. */
  readonly perKey: number
  /** Minimum bytes per second over each span of SPAN_MS; 0 = no minimum. */
  readonly leastRate: number
}

/** The id of a client key, or an address. */
export type Sender = string | number

/** Long enough for a phone that switches its network. */
const SPAN_MS = 10_000
const LOOK_MS = 1000
/** Number of checks without a body after which the timer stops. */
const IDLE_LOOKS = 10

export class Receiving {
  /** Forms: their files stay in memory until the request ends. */
  readonly uploads = new Uploads()
  readonly #clock: Clock
  readonly #limits: () => ReceivingLimits
  readonly #bodies = new SwapRemoveList<Body>()
  readonly #senders = new Map<Sender, number>()
  readonly #shed: Record<'bodies' | 'bodies_of_key' | 'slow_body', TallySeries>
  #bytes = 0
  #timer: Timer | null = null

  constructor(clock: Clock, metrics: Metrics, limits: () => ReceivingLimits) {
    this.#clock = clock
    this.#limits = limits
    const shed = metrics.tally('bodies_shed_total', 'Request bodies that were not read to their end, by the bound.', ['bound'])
    this.#shed = {
      bodies: shed.series('total'),
      bodies_of_key: shed.series('key'),
      slow_body: shed.series('rate'),
    }
    const gauge = metrics.gauge('receiving_bytes', 'Bytes of request bodies that are being received.')
    Object.assign(gauge, { collect: () => gauge.set(this.#bytes) })
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Registers a body. @throws GatewayError 503 when a body of this length does not fit beside the others. */
  begin(sender: Sender, declared: number): Body {
    const refusal = this.#refusal(sender, 0, declared)
    if (refusal !== null) throw refusal
    const body = new Body(sender, this.#clock.monotonic(), (bytes) => this.#take(body, bytes))
    body.ticket = this.#bodies.add(body)
    this.#timer ??= this.#watch()
    return body
  }

  /** Registers an upload: `uploads` limits its bytes, so only its speed is checked here. */
  beginUpload(sender: Sender): Body {
    const body = new Body(sender, this.#clock.monotonic(), (bytes) => {
      body.recent += bytes
      return null
    })
    body.ticket = this.#bodies.add(body)
    this.#timer ??= this.#watch()
    return body
  }

  /** Call it when the body is complete or aborted: its bytes no longer count. */
  end(body: Body): void {
    if (body.ticket === null || body.ticket.index < 0) return
    this.#bodies.remove(body.ticket)
    if (body.bytes > 0) this.#add(body.sender, -body.bytes)
  }

  #take(body: Body, bytes: number): GatewayErrorShape | null {
    const refusal = this.#refusal(body.sender, body.bytes, bytes)
    if (refusal !== null) return refusal
    body.bytes += bytes
    body.recent += bytes
    this.#add(body.sender, bytes)
    return null
  }

  /** A single body always fits: only its route's limit applies to it. */
  #refusal(sender: Sender, own: number, more: number): GatewayError | null {
    const { total, perKey } = this.#limits()
    if (this.#bytes > own && this.#bytes + more > total) {
      this.#shed.bodies.add(1)
      return overloaded('The gateway receives as many bytes as it can hold. Send the request again in a moment.')
    }
    const senders = this.#senders.get(sender) ?? 0
    if (senders > own && senders + more > perKey) {
      this.#shed.bodies_of_key.add(1)
      return overloaded(`More than ${perKey} bytes of one client are on their way. Send fewer large requests at a time.`)
    }
    return null
  }

  #add(sender: Sender, bytes: number): void {
    this.#bytes += bytes
    const of = (this.#senders.get(sender) ?? 0) + bytes
    if (of > 0) this.#senders.set(sender, of)
    else this.#senders.delete(sender)
  }

  /** One timer serves all bodies. It runs on for a while, because a start and stop for every request would cost more. */
  #watch(): Timer {
    let idle = 0
    return this.#clock.every(LOOK_MS, () => {
      idle = this.#bodies.size === 0 ? idle + 1 : 0
      if (idle > IDLE_LOOKS) {
        this.#timer?.cancel()
        this.#timer = null
        return
      }
      const { leastRate } = this.#limits()
      const now = this.#clock.monotonic()
      if (leastRate > 0) for (const body of this.#bodies.values()) this.#judge(body, leastRate, now)
    })
  }

  #judge(body: Body, leastRate: number, now: number): void {
    if (now - body.since < SPAN_MS) return
    if (body.recent >= (leastRate * (now - body.since)) / 1000) {
      body.since = now
      body.recent = 0
      return
    }
    this.#shed.slow_body.add(1)
    body.refuse(tooSlow(leastRate))
  }
}

export class Body implements BodyMeter {
  readonly sender: Sender
  readonly take: (bytes: number) => GatewayErrorShape | null
  ticket: Ticket<Body> | null = null
  bytes = 0
  /** Monotonic ms at which the span began, and the bytes received in it. */
  since: number
  recent = 0
  #refused: ((error: GatewayErrorShape) => void) | null = null

  constructor(sender: Sender, since: number, take: (bytes: number) => GatewayErrorShape | null) {
    this.sender = sender
    this.since = since
    this.take = take
  }

  onRefused(fn: (error: GatewayErrorShape) => void): void {
    this.#refused = fn
  }

  refuse(error: GatewayErrorShape): void {
    this.#refused?.(error)
  }
}

export function overloaded(message: string): GatewayError {
  return GatewayError.unavailable(message, { code: 'overloaded', retryAfterMs: 1000 })
}

function tooSlow(leastRate: number): GatewayError {
  return new GatewayError(`The request body came at less than ${leastRate} bytes per second.`, {
    status: 408,
    type: 'invalid_request_error',
    code: 'request_timeout',
  })
}
