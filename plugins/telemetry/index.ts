// Exports OpenTelemetry (OTLP over HTTP): a trace of each request with its upstream calls and plugins, and the GenAI metrics. It never
// contains prompt or answer text. The SDK is loaded only when a collector is configured.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { HookRun } from '../../core/types/plugin/hook-tracer.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { instruments } from './instruments.ts'
import { headersOf, openSdk } from './sdk.ts'
import { type RequestTrace, requestTrace } from './trace.ts'

/** Maximum number of hook runs in a trace. */
const MAX_RUNS = 256

export const telemetry = definePlugin({
  name: 'telemetry',
  config: z.strictObject({
    /** Base address of the collector: `/v1/traces` and `/v1/metrics` are appended. */
    endpoint: z.url().nullable().default(null),
    headers: z.string().nullable().default(null),
    serviceName: z.string().min(1).default('hookgate'),
    /** Fraction of the requests that are traced, when the caller did not decide. */
    sampleRatio: z.number().min(0).max(1).default(1),
    metricIntervalMs: z.int().min(100).default(60_000),
  }),
  variables: {
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      option: 'endpoint',
      fallback: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      about: 'OpenTelemetry collector (OTLP over HTTP); unset: no traces and metrics are sent.',
    },
    OTEL_EXPORTER_OTLP_HEADERS: {
      option: 'headers',
      type: 'secret',
      fallback: 'OTEL_EXPORTER_OTLP_HEADERS',
      about: 'Headers for the collector: `name=value,name=value`.',
    },
    OTEL_SERVICE_NAME: { option: 'serviceName', fallback: 'OTEL_SERVICE_NAME', about: 'Name of this gateway at the collector.' },
    OTEL_TRACES_SAMPLER_ARG: {
      option: 'sampleRatio',
      fallback: 'OTEL_TRACES_SAMPLER_ARG',
      about: 'Share of requests that are traced. A decision in the request’s `traceparent` overrides it.',
    },
  },
  async setup(gateway, config) {
    const { endpoint } = config
    if (endpoint === null) return
    const { version } = gateway.use('status')
    const sdk = await openSdk({ ...config, endpoint, headers: headersOf(config.headers), version, clock: gateway.clock })
    const traces = gateway.slot<RequestTrace>()
    const counted = instruments(sdk.meter)
    const traceOf = (ctx: RequestContext): RequestTrace | undefined =>
      traces.get(ctx) ?? (ctx.parent === null ? undefined : traceOf(ctx.parent))

    gateway.provide('hookTracer', {
      plugin: 'telemetry',
      wants: (ctx) => traceOf(ctx) !== undefined,
      ran(ctx, run: HookRun) {
        const runs = traceOf(ctx)?.runs
        if (runs !== undefined && runs.length < MAX_RUNS) runs.push(run)
      },
    })
    gateway.hook(
      'ingress',
      (ctx) => {
        const trace = requestTrace(sdk, ctx)
        if (trace !== null) traces.set(ctx, trace)
      },
      { order: 'pre', onError: 'open' },
    )
    gateway.hook(
      'settled',
      (ctx, outcome) => {
        counted.record(ctx, outcome)
        // Internal calls have no ingress hook, so their trace starts here.
        const trace = traces.get(ctx) ?? (ctx.ingress === null ? requestTrace(sdk, ctx) : null)
        trace?.end(ctx, outcome)
      },
      { order: 'post', onError: 'open' },
    )
    return () => sdk.close()
  },
})

export default telemetry
