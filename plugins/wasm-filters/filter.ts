// One filter for the plugin: its hooks, and its parsed and limited answers. It does not depend on the gateway's requests, so that
// `hookgate filter test` can use it too.
import { availableParallelism } from 'node:os'
import type { z } from 'zod'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import {
  type ChunkDecision,
  chunkDecision,
  filterManifest,
  type RequestDecision,
  type ResponseDecision,
  readAnswer,
  requestDecision,
  responseDecision,
} from './decision.ts'
import type { LogLine } from './extism-host.ts'
import { type FailureReason, FilterFailure } from './failure.ts'
import { MAX_MODULE_BYTES, MAX_TEXT_BYTES, type Timeouts } from './limits.ts'
import { withLimits } from './module-limits.ts'
import { type CageInit, type CageReply, type GuestBond, Sandbox, type SandboxTime } from './sandbox.ts'

export const HOOKS = ['request', 'response', 'chunk'] as const
export type FilterHook = (typeof HOOKS)[number]

export interface FilterInit {
  /** The file, for messages. */
  readonly file: string
  readonly module: Uint8Array
  readonly config: Readonly<Record<string, string>>
  readonly timeouts: Timeouts
  readonly clock: Clock
  readonly log: Logger
  readonly time?: SandboxTime
  failed(reason: FailureReason): void
  /** Called with the running time of the guest, ms. */
  timed?(hook: FilterHook | 'end', ms: number): void
}

/** The sandbox of a request's calls. */
export interface Seat extends GuestBond {
  readonly sandbox: Sandbox
}

export interface Filter {
  readonly name: string
  readonly version: string
  readonly hooks: ReadonlySet<FilterHook>
  /** Header names that it may see, in lower case. */
  readonly headers: readonly string[]
  seat(): Seat
  /** True when it exports `on_end`, which is called when it may drop a request's state. */
  readonly keepsState: boolean
  /** All reject with a FilterFailure. `accept` may throw one when a decision does not fit its subject. */
  onRequest(seat: Seat, input: object, accept?: (decision: RequestDecision) => void): Promise<RequestDecision>
  onResponse(seat: Seat, input: object, accept?: (decision: ResponseDecision) => void): Promise<ResponseDecision>
  onChunk(seat: Seat, input: object, accept?: (decision: ChunkDecision) => void): Promise<ChunkDecision>
  /** Never rejects. */
  onEnd(seat: Seat, input: object): Promise<void>
  close(): Promise<void>
}

const CONTINUE = { action: 'continue' } as const

// After three timeouts within a minute a filter is disabled for a minute, because terminating a thread costs more than the call.
const TIMEOUTS = 3
const WINDOW_MS = 60_000
const OFF_MS = 60_000

interface Breaker {
  readonly off: boolean
  /** Returns true when this timeout disabled it. */
  timedOut(): boolean
}

function breaker(clock: Clock): Breaker {
  let recent: number[] = []
  let offUntil = Number.NEGATIVE_INFINITY
  return {
    get off() {
      return clock.monotonic() < offUntil
    },
    timedOut() {
      const now = clock.monotonic()
      recent = [...recent.filter((at) => now - at < WINDOW_MS), now]
      if (recent.length < TIMEOUTS) return false
      recent = []
      offUntil = now + OFF_MS
      return true
    },
  }
}

// Logs lines of a filter and about it, limited per minute, so that a filter cannot flood the gateway's log.
const LINES_PER_MINUTE = 60
const MINUTE_MS = 60_000

interface GuestLog {
  write(filter: string, lines: readonly LogLine[]): void
  failed(filter: string, hook: string, failure: FilterFailure): void
}

function guestLog(log: Logger, clock: Clock): GuestLog {
  let since = Number.NEGATIVE_INFINITY
  let written = 0

  function mayWrite(filter: string): boolean {
    const now = clock.monotonic()
    if (now - since >= MINUTE_MS) {
      since = now
      written = 0
    }
    if (++written === LINES_PER_MINUTE + 1) log.warn('wasm.log_cut', { filter, linesPerMinute: LINES_PER_MINUTE })
    return written <= LINES_PER_MINUTE
  }

  return {
    write(filter, lines) {
      for (const { level, text } of lines) if (mayWrite(filter)) log[level]('wasm.log', { filter, text })
    },
    failed(filter, hook, { reason, message }) {
      if (mayWrite(filter)) log.warn('wasm.failed', { filter, hook, reason, error: message })
    },
  }
}

// The threads of one filter: min(2, cores), started on demand. A request stays with one thread, where the guest may keep its state.
interface Pool {
  /** Starts the first thread. @throws Error with the reason why the module is unusable. */
  open(): Promise<readonly string[]>
  /** Returns the thread with the fewest calls. */
  least(): Sandbox
  close(): Promise<void>
}

function createPool(init: CageInit, size: number): Pool {
  const sandboxes = Array.from({ length: size }, () => new Sandbox(init))
  return {
    open: () => (sandboxes[0] as Sandbox).open(),
    least: () => sandboxes.reduce((least, sandbox) => (sandbox.pending < least.pending ? sandbox : least)),
    async close() {
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()))
    },
  }
}

/** @throws Error with the reason why the file is not a filter. */
export async function openFilter(init: FilterInit): Promise<Filter> {
  const { file, module, config, timeouts, clock, log, time } = init
  const refused = (why: unknown) =>
    new Error(`The WASM filter ${file} cannot be used. ${why instanceof Error ? why.message : String(why)}`)
  if (module.length > MAX_MODULE_BYTES) throw refused(`It has more than ${MAX_MODULE_BYTES} bytes.`)
  const lines = guestLog(log, clock)
  const guard = breaker(clock)
  let wasm: Uint8Array<ArrayBuffer>
  try {
    wasm = Uint8Array.from(withLimits(module))
  } catch (error) {
    throw refused(error)
  }
  const pool = createPool(
    { wasm, config, initMs: timeouts.init, queueMs: timeouts.queue, time },
    Math.min(2, availableParallelism()),
  )

  async function call(seat: Seat, name: string, input: string, limitMs: number): Promise<CageReply> {
    // A filter without state can use any thread.
    const reply = await seat.sandbox.call({ name, input, now: clock.now() }, limitMs, keepsState ? seat : null)
    lines.write(filterName, reply.lines)
    if (reply.failure !== null) throw new FilterFailure(reply.failure.reason, reply.failure.message)
    return reply
  }

  const newSeat = (): Seat => ({ sandbox: pool.least(), generation: null })

  let filterName = file
  let keepsState = false
  let exports: ReadonlySet<string>
  let manifest: z.output<typeof filterManifest>
  try {
    exports = new Set(await pool.open())
    if (!exports.has('manifest')) throw new Error('It does not export `manifest`.')
    manifest = readAnswer(filterManifest, (await call(newSeat(), 'manifest', '', timeouts.init)).output)
    for (const hook of manifest.hooks ?? [])
      if (!exports.has(`on_${hook}`))
        throw new Error(`Its manifest names the hook \`${hook}\`, but it does not export \`on_${hook}\`.`)
  } catch (error) {
    await pool.close()
    throw refused(error)
  }
  filterName = manifest.name
  const hooks = new Set(manifest.hooks ?? HOOKS.filter((hook) => exports.has(`on_${hook}`)))
  keepsState = exports.has('on_end')

  async function decided<D>(hook: FilterHook, seat: Seat, input: object, schema: z.ZodType<D>, accept?: (decision: D) => void) {
    try {
      if (guard.off) throw new FilterFailure('off', 'It is off for a minute: it ran over its time three times.')
      const text = JSON.stringify(input)
      if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
        throw new FilterFailure('too_large', `What it is to look at has more than ${MAX_TEXT_BYTES} bytes.`)
      const { output, ms } = await call(seat, `on_${hook}`, text, timeouts[hook])
      init.timed?.(hook, ms)
      const decision = output === '' ? (CONTINUE as D) : readAnswer(schema, output)
      accept?.(decision)
      return decision
    } catch (error) {
      const failure = error instanceof FilterFailure ? error : new FilterFailure('trap', String(error))
      init.failed(failure.reason)
      lines.failed(filterName, hook, failure)
      if (failure.reason === 'timeout' && guard.timedOut()) log.error('wasm.off', { filter: filterName, seconds: 60 })
      throw failure
    }
  }

  return {
    name: manifest.name,
    version: manifest.version,
    hooks,
    headers: manifest.headers,
    keepsState,
    seat: newSeat,
    onRequest: (seat, input, accept) => decided('request', seat, input, requestDecision, accept),
    onResponse: (seat, input, accept) => decided('response', seat, input, responseDecision, accept),
    onChunk: (seat, input, accept) => decided('chunk', seat, input, chunkDecision, accept),
    async onEnd(seat, input) {
      if (!keepsState || guard.off || seat.sandbox.generation !== seat.generation) return
      try {
        const { ms } = await call(seat, 'on_end', JSON.stringify(input), timeouts.chunk)
        init.timed?.('end', ms)
      } catch (error) {
        const failure = error instanceof FilterFailure ? error : new FilterFailure('trap', String(error))
        // The state to delete is gone already.
        if (failure.reason === 'state_lost') return
        init.failed(failure.reason)
        lines.failed(filterName, 'end', failure)
        if (failure.reason === 'timeout') guard.timedOut()
      }
    },
    close: () => pool.close(),
  }
}
