// One Prometheus registry per gateway. Names are prefixed `gateway_`; a metric asked for twice is the same metric,
// so that a reloaded plugin counts on.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricsFactory, Tally } from '../types/plugin.ts'
import { registerTally } from './tally.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

export interface Metrics extends MetricsFactory {
  readonly contentType: string
  /** The exposition text. */
  text(): Promise<string>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  let processMetrics = false
  const tallies = new Map<string, Tally>()
  const known = <M>(name: string, make: (full: string) => M): M => {
    const full = `gateway_${name}`
    return (registry.getSingleMetric(full) as M | undefined) ?? make(full)
  }
  return {
    contentType: registry.contentType,
    counter: (name, help, labelNames = []) =>
      known(name, (full) => new Counter({ name: full, help, labelNames, registers: [registry] })),
    gauge: (name, help, labelNames = []) =>
      known(name, (full) => new Gauge({ name: full, help, labelNames, registers: [registry] })),
    histogram: (name, help, labelNames = [], buckets = SECONDS) =>
      known(name, (full) => new Histogram({ name: full, help, labelNames, buckets, registers: [registry] })),
    tally(name, help, labels, buckets) {
      const full = `gateway_${name}`
      const made = tallies.get(full) ?? registerTally(registry, { name: full, help, labels, buckets })
      tallies.set(full, made)
      return made
    },
    async text() {
      // Process figures cost timers and start-up time: they begin with the first scrape.
      if (!processMetrics) {
        processMetrics = true
        collectDefaultMetrics({ register: registry, prefix: 'gateway_' })
      }
      return registry.metrics()
    },
  }
}
