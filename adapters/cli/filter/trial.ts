// Runs a filter on recordings in the gateway's sandbox, and reports its decisions, its time and its failures.
import { readFileSync } from 'node:fs'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { FilterFailure } from '../../../plugins/wasm-filters/failure.ts'
import { openFilter } from '../../../plugins/wasm-filters/filter.ts'
import type { Timeouts } from '../../../plugins/wasm-filters/limits.ts'
import { attemptsOf, contextOf, UNCHANGED } from './attempts.ts'
import type { Recording } from './recording.ts'

export interface TrialInit {
  readonly file: string
  readonly recordings: readonly Recording[]
  readonly config: Readonly<Record<string, string>>
  readonly timeouts: Timeouts
  /** How often each recording is run. */
  readonly runs: number
  /** Receives the guest's log lines of the first run. */
  readonly log: Logger
}

/** One hook on one recording. A repeated request is tried once. */
export interface TrialRow {
  hook: 'on_request' | 'on_response' | 'on_chunk'
  recording: string
  /** Action of the first run. With several chunks it is the strongest: deny, replace, continue. */
  action: string
  changes: string
  calls: number
  /** The guest's own time; null when every call failed. */
  p50_ms: number | null
  p95_ms: number | null
  failures: { reason: string; message: string }[]
}

export interface Trial {
  filter: string
  version: string
  rows: TrialRow[]
}

/** @throws Error with the reason why the file is not a filter. */
export async function tryFilter({ file, recordings, config, timeouts, runs, log }: TrialInit): Promise<Trial> {
  let elapsed = 0
  let talks = true
  let last = 0
  const quiet: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const heard = Object.fromEntries(
    (['debug', 'info', 'warn', 'error'] as const).map((level) => [
      level,
      (message: string, fields?: object) => (talks && message === 'wasm.log' ? log : quiet)[level](message, fields),
    ]),
  ) as unknown as Logger
  const filter = await openFilter({
    file,
    module: moduleAt(file),
    config,
    timeouts,
    log: heard,
    // Each reading is a minute later than the last, so the breaker never stays open.
    clock: { ...systemClock, monotonic: () => (elapsed += 61_000) },
    failed: ignore,
    timed(_hook, ms) {
      last = ms
    },
  })
  const rows: TrialRow[] = []
  /** Requests that were tried: recordings may differ only in their answers. */
  const seen = new Set<string>()
  try {
    for (const recording of recordings)
      for (const { hook, attempt } of attemptsOf(filter, recording)) {
        const asked = JSON.stringify([recording.headers, recording.request])
        if (hook === 'on_request' && seen.has(asked)) continue
        if (hook === 'on_request') seen.add(asked)
        const row: TrialRow = {
          hook,
          recording: recording.name,
          ...UNCHANGED,
          calls: 0,
          p50_ms: null,
          p95_ms: null,
          failures: [],
        }
        const times: number[] = []
        for (let run = 0; run < runs && row.failures.length === 0; run++) {
          talks = run === 0
          const seat = filter.seat()
          for await (const tried of attempt(seat)) {
            row.calls++
            if (tried instanceof FilterFailure) {
              row.failures.push({ reason: tried.reason, message: tried.message })
              break
            }
            times.push(last)
            if (run === 0 && tried.action !== 'continue' && row.action !== 'deny') Object.assign(row, tried)
          }
          await filter.onEnd(seat, { abi: 1, ctx: contextOf(recording), status: 200 })
        }
        if (row.failures.length > 0) Object.assign(row, { action: 'failed', changes: '' })
        rows.push({ ...row, p50_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) })
      }
  } finally {
    await filter.close()
  }
  return { filter: filter.name, version: filter.version, rows }
}

function moduleAt(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`The filter ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function quantile(times: readonly number[], share: number): number | null {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

function ignore(): void {}
