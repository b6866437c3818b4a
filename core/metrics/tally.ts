// Counters and histograms for the hot path: plain numbers per label combination, converted to Prometheus samples at scrape time. A
// prom-client metric hashes and checks its labels on every observation.
import type { Registry } from 'prom-client'
import type { Tally, TallySeries } from '../types/plugin/plugin.ts'

export interface TallyOptions {
  name: string
  help: string
  labels: readonly string[]
  /** Upper bounds, ascending. With them the metric is a histogram, otherwise a counter. */
  buckets?: readonly number[]
}

interface Sample {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

/** Returns a metric that the registry reads through `get`, like its own metrics. */
export function registerTally(registry: Registry, { name, help, labels, buckets }: TallyOptions): Tally {
  const all: (CounterSeries | HistogramSeries)[] = []
  const root = new Map<string, Node>()
  const type = buckets === undefined ? 'counter' : 'histogram'
  const samples = (): Sample[] => all.flatMap((series) => series.samples(name))
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, values: samples(), aggregator: 'sum' }),
    reset() {},
  }
  registry.registerMetric(metric as never)

  const make = (values: readonly string[]): CounterSeries | HistogramSeries => {
    const named = Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
    const series = buckets === undefined ? new CounterSeries(named) : new HistogramSeries(named, buckets)
    all.push(series)
    return series
  }

  let recent: readonly string[] = []
  let recentSeries: CounterSeries | HistogramSeries | null = null
  return {
    series(...values) {
      // Most requests have the labels of the request before.
      if (recentSeries !== null && isSame(recent, values)) return recentSeries
      // One map per label: the hot path builds no combined key.
      let level = root
      for (let at = 0; at < values.length - 1; at++) {
        let next = level.get(values[at] as string)
        if (!(next instanceof Map)) {
          next = new Map<string, Node>()
          level.set(values[at] as string, next)
        }
        level = next
      }
      const last = values[values.length - 1] ?? ''
      let series = level.get(last)
      if (series === undefined || series instanceof Map) {
        series = make(values)
        level.set(last, series)
      }
      recent = values
      recentSeries = series
      return series
    },
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

type Node = CounterSeries | HistogramSeries | Map<string, Node>

class CounterSeries implements TallySeries {
  readonly #labels: Record<string, string>
  #total = 0

  constructor(labels: Record<string, string>) {
    this.#labels = labels
  }

  add(value: number): void {
    if (value > 0) this.#total += value
  }

  samples(): Sample[] {
    return [{ labels: this.#labels, value: this.#total }]
  }
}

class HistogramSeries implements TallySeries {
  readonly #labels: Record<string, string>
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0
  #count = 0

  constructor(labels: Record<string, string>, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length)
  }

  add(value: number): void {
    this.#sum += value
    this.#count++
    for (let i = 0; i < this.#bounds.length; i++) {
      if (value > (this.#bounds[i] as number)) continue
      this.#counts[i] = (this.#counts[i] as number) + 1
      return
    }
  }

  samples(name: string): Sample[] {
    let below = 0
    const cumulative = this.#bounds.map((le, index) => {
      below += this.#counts[index] as number
      return { metricName: `${name}_bucket`, labels: { ...this.#labels, le }, value: below }
    })
    return [
      ...cumulative,
      { metricName: `${name}_bucket`, labels: { ...this.#labels, le: '+Inf' }, value: this.#count },
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.#labels, value: this.#count },
    ]
  }
}
