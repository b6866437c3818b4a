// Sums the metrics of several processes. Counters and histograms are added up; a gauge is added up, averaged or left out as it says itself.
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import { AggregatorRegistry } from './prom-parts.ts'

type Snapshot = MetricObjectWithValues<MetricValue<string>>

/** @param parts `getMetricsAsJSON()` of each process; what is no list is left out. */
export function merged(parts: readonly unknown[]): Registry {
  return AggregatorRegistry.aggregate(parts.filter((part) => Array.isArray(part))) as Registry
}

/** Returns the sums that stay when these processes have ended: those of counters and histograms. */
export async function countsOf(parts: readonly unknown[]): Promise<unknown> {
  const counting = parts.map((part) =>
    Array.isArray(part)
      ? (part as Snapshot[]).filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
      : null,
  )
  return merged(counting).getMetricsAsJSON()
}
