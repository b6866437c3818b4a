// Merges the usage of `message_start` and `message_delta`; vendors disagree on which one is authoritative. Anthropic counts the prompt
// first; Qwen and Kimi report the full prompt there and the real split at the end; MiniMax starts with zero. The result does not depend on
// the order of the reports.
import { tokenCount } from '../../../../core/models/token-count.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../../shared/fields.ts'

export class UsageLatch {
  #input: InputReport | null = null
  #output: number | undefined
  #reasoning: number | undefined
  /** By their sum: the breakdown with the sum of the winner's cache writes is shown. */
  readonly #breakdowns = new Map<number, Breakdown>()
  #serverTools: Record<string, number> | undefined
  #iterations: Iterations | null = null
  #raw: JsonObject = {}
  /** True when a counter was impossible. Settlement then estimates usage, unless another report has a valid one. */
  #absurd = false

  /** Reads one `usage` object; ignores other values. */
  observe(raw: Json | undefined): void {
    if (!isObject(raw)) return
    for (const key in raw) if (raw[key] !== null) this.#raw[key] = raw[key] as Json
    if (isAbsurd(raw.input_tokens) || isAbsurd(raw.output_tokens)) this.#absurd = true
    const report = inputReport(raw)
    if (report !== null && (this.#input === null || wins(report, this.#input))) this.#input = report
    this.#output = larger(this.#output, tokenCount(raw.output_tokens))
    const details = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
    this.#reasoning = larger(this.#reasoning, tokenCount(details.thinking_tokens))
    const breakdown = breakdownOf(raw)
    if (breakdown !== null && breakdown.long >= (this.#breakdowns.get(breakdown.total)?.long ?? 0))
      this.#breakdowns.set(breakdown.total, breakdown)
    this.#serverTools = mergedCounts(this.#serverTools, raw.server_tool_use)
    const iterations = iterationsOf(raw.iterations)
    if (iterations !== null && iterations.output >= (this.#iterations?.output ?? 0)) this.#iterations = iterations
  }

  /** null until a valid report arrives. */
  result(): Usage | null {
    const incomplete = this.#input === null || this.#output === undefined
    if ((this.#input === null && this.#output === undefined) || (this.#absurd && incomplete)) return null
    const { uncached, read, write, output } = this.#iterations ?? { ...(this.#input ?? NOTHING), output: this.#output ?? 0 }
    const inputTotal = uncached + read + write
    const split = write === 0 ? undefined : this.#breakdowns.get(write)
    return {
      inputTotal,
      cacheRead: read,
      cacheWrite: write,
      ...(split === undefined ? {} : { cacheWrite5m: split.short, cacheWrite1h: split.long }),
      outputTotal: output,
      ...(this.#reasoning === undefined ? {} : { reasoning: Math.min(this.#reasoning, output) }),
      total: inputTotal + output,
      ...(this.#serverTools === undefined ? {} : { serverTools: this.#serverTools }),
      estimated: false,
      raw: { ...this.#raw },
    }
  }
}

interface InputReport {
  uncached: number
  read: number
  write: number
}

interface Breakdown {
  short: number
  long: number
  total: number
}

interface Iterations {
  uncached: number
  read: number
  write: number
  output: number
}

const NOTHING = { uncached: 0, read: 0, write: 0 }

function inputReport(raw: JsonObject): InputReport | null {
  const uncached = tokenCount(raw.input_tokens)
  if (uncached === undefined) return null
  const read = tokenCount(raw.cache_read_input_tokens) ?? 0
  const write = tokenCount(raw.cache_creation_input_tokens) ?? breakdownOf(raw)?.total ?? 0
  return { uncached, read, write }
}

/**
 * The report with the larger cache share has the real split. Between equal shares the larger count wins: the counters of message_delta
 * are cumulative and grow with every turn that a server tool adds, with or without `server_tool_use`.
 */
function wins(next: InputReport, held: InputReport): boolean {
  const cached = next.read + next.write - (held.read + held.write)
  if (cached !== 0) return cached > 0
  return next.uncached === held.uncached ? next.read > held.read : next.uncached > held.uncached
}

function breakdownOf(raw: JsonObject): Breakdown | null {
  const creation = raw.cache_creation
  if (!isObject(creation)) return null
  const short = tokenCount(creation.ephemeral_5m_input_tokens) ?? 0
  const long = tokenCount(creation.ephemeral_1h_input_tokens) ?? 0
  return { short, long, total: short + long }
}

/** Beta: compaction runs in addition to the message and is billed with it. With a fallback the top level contains everything. */
function iterationsOf(value: Json | undefined): Iterations | null {
  if (!Array.isArray(value)) return null
  const entries = value.filter(isObject)
  const counted = entries.filter(({ type }) => type === 'message' || type === 'compaction')
  if (counted.length === 0 || entries.some(({ type }) => type === 'fallback_message')) return null
  const sum = (key: string) => counted.reduce((total, entry) => total + (tokenCount(entry[key]) ?? 0), 0)
  return {
    uncached: sum('input_tokens'),
    read: sum('cache_read_input_tokens'),
    write: sum('cache_creation_input_tokens'),
    output: sum('output_tokens'),
  }
}

function mergedCounts(held: Record<string, number> | undefined, value: Json | undefined): Record<string, number> | undefined {
  if (!isObject(value)) return held
  const out: Record<string, number> = { ...held }
  for (const [key, amount] of Object.entries(value)) {
    const counted = tokenCount(amount)
    if (counted !== undefined) out[key] = Math.max(out[key] ?? 0, counted)
  }
  return Object.keys(out).length === 0 ? undefined : out
}

function isAbsurd(value: Json | undefined): boolean {
  return value !== undefined && value !== null && tokenCount(value) === undefined
}

function larger(held: number | undefined, next: number | undefined): number | undefined {
  return held === undefined || (next !== undefined && next > held) ? next : held
}
