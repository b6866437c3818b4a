// The parts of prom-client that a gateway uses at its start. The package's entry loads its process metrics as well, and with these the
// API of OpenTelemetry: sixty files. Each part is the same object as the entry's.
import type * as prom from 'prom-client'
// @ts-expect-error The package types its entry only.
import cluster from 'prom-client/lib/cluster.js'
// @ts-expect-error
import counter from 'prom-client/lib/counter.js'
// @ts-expect-error
import gauge from 'prom-client/lib/gauge.js'
// @ts-expect-error
import histogram from 'prom-client/lib/histogram.js'
// @ts-expect-error
import registry from 'prom-client/lib/registry.js'

export const AggregatorRegistry: typeof prom.AggregatorRegistry = cluster
export const Counter: typeof prom.Counter = counter
export const Gauge: typeof prom.Gauge = gauge
export const Histogram: typeof prom.Histogram = histogram
export const Registry: typeof prom.Registry = registry
