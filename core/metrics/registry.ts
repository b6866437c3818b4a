// Holds one Prometheus registry per gateway. Names get the prefix `gateway_`, except those of the OpenTelemetry conventions. A metric
// that is registered twice is the same metric, so that a reloaded plugin continues its counts. A different metric with the same name is
// refused.
import type { Registry as PromRegistry } from 'prom-client'
import type { MetricsFactory } from '../types/plugin/plugin.ts'
import type { Siblings } from '../types/ports/siblings.ts'
import { merged } from './merge.ts'
import { Counter, Gauge, Histogram, Registry } from './prom-parts.ts'
import { registerTally } from './tally.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

export interface Metrics extends MetricsFactory {
  readonly contentType: string
  /** Returns the exposition text: the figures of all workers that serve this address. */
  text(): Promise<string>
}

/** @param siblings the workers that serve one address with this process. */
export function createMetrics(siblings?: Siblings): Metrics {
  const registry = new Registry()
  let processMetrics: Promise<void> | null = null
  const metrics = new Map<string, { what: string; metric: unknown }>()
  const known = <M>(name: string, kind: string, labels: readonly string[], make: (full: string) => M): M => {
    const full = name.startsWith('gen_ai_') ? name : `gateway_${name}`
    if (!/^\w+$/.test(full)) throw new Error(`\`${full}\` cannot be the name of a metric: letters, digits and underscores.`)
    const what = `a ${kind} ${labels.length === 0 ? 'without labels' : `by ${labels.join(', ')}`}`
    const found = metrics.get(full)
    if (found !== undefined && found.what !== what)
      throw new Error(`The metric \`${full}\` is ${found.what} already; ${what} needs another name.`)
    if (found !== undefined) return found.metric as M
    const metric = make(full)
    metrics.set(full, { what, metric })
    return metric
  }
  // Process metrics cost timers and start-up time, so they start with the first scrape.
  const withProcess = async (): Promise<PromRegistry> => {
    processMetrics ??= import('prom-client').then(({ collectDefaultMetrics }) =>
      collectDefaultMetrics({ register: registry, prefix: 'gateway_' }),
    )
    await processMetrics
    return registry
  }
  siblings?.answer('metrics', async () => (await withProcess()).getMetricsAsJSON())
  return {
    contentType: registry.contentType,
    counter: (name, help, labelNames = []) =>
      known(name, 'counter', labelNames, (full) => new Counter({ name: full, help, labelNames, registers: [registry] })),
    gauge: (name, help, labelNames = [], aggregator = 'sum') =>
      known(name, 'gauge', labelNames, (full) => new Gauge({ name: full, help, labelNames, aggregator, registers: [registry] })),
    histogram: (name, help, labelNames = [], buckets = SECONDS) =>
      known(
        name,
        'histogram',
        labelNames,
        (full) => new Histogram({ name: full, help, labelNames, buckets, registers: [registry] }),
      ),
    tally: (name, help, labels, buckets) =>
      known(name, `tally${buckets === undefined ? '' : ' with buckets'}`, labels, (full) =>
        registerTally(registry, { name: full, help, labels, buckets }),
      ),
    async text() {
      if (siblings === undefined) return (await withProcess()).metrics()
      return merged(await siblings.ask('metrics')).metrics()
    },
  }
}
