// Loads the OpenTelemetry SDK with an exporter to one collector. Its packages are optional and loaded only when a collector is
// configured.
import type { Context, Meter, Tracer } from '@opentelemetry/api'
import type { Clock } from '../../core/types/ports/ports.ts'

const CLOSE_MS = 3000

export interface SdkOptions {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly sampleRatio: number
  readonly metricIntervalMs: number
  readonly version: string
  readonly clock: Clock
}

export interface Sdk {
  readonly api: typeof import('@opentelemetry/api')
  readonly tracer: Tracer
  readonly meter: Meter
  /** Returns the caller's trace from its `traceparent`. */
  parentOf(header: (name: string) => string | null): Context
  /** Sends the remaining data; waits at most three seconds for the collector. */
  close(): Promise<void>
}

/** @throws Error naming the packages when they are not installed. */
export async function openSdk(options: SdkOptions): Promise<Sdk> {
  const { api, core, metrics, otlpMetrics, otlpTraces, resources, traces } = await packages()
  const { endpoint, headers, serviceName, sampleRatio, metricIntervalMs, version, clock } = options
  const at = (path: string) => `${endpoint.replace(/\/+$/, '')}${path}`
  const resource = resources.resourceFromAttributes({ 'service.name': serviceName, 'service.version': version })
  const tracing = new traces.BasicTracerProvider({
    resource,
    sampler: new traces.ParentBasedSampler({ root: new traces.TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new traces.BatchSpanProcessor(new otlpTraces.OTLPTraceExporter({ url: at('/v1/traces'), headers }))],
  })
  const metering = new metrics.MeterProvider({
    resource,
    readers: [
      new metrics.PeriodicExportingMetricReader({
        exporter: new otlpMetrics.OTLPMetricExporter({ url: at('/v1/metrics'), headers }),
        exportIntervalMillis: metricIntervalMs,
        exportTimeoutMillis: Math.min(metricIntervalMs, 10_000),
      }),
    ],
  })
  const propagator = new core.W3CTraceContextPropagator()
  return {
    api,
    tracer: tracing.getTracer('hookgate', version),
    meter: metering.getMeter('hookgate', version),
    parentOf: (header) =>
      propagator.extract(api.ROOT_CONTEXT, null, { get: (_, name) => header(name) ?? undefined, keys: () => [] }),
    async close() {
      const sent = Promise.allSettled([tracing.shutdown(), metering.shutdown()])
      const given = new AbortController()
      await Promise.race([sent, clock.sleep(CLOSE_MS, given.signal).catch(() => {})])
      given.abort()
    },
  }
}

async function packages() {
  try {
    const [api, core, metrics, otlpMetrics, otlpTraces, resources, traces] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/exporter-metrics-otlp-http'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
    ])
    return { api, core, metrics, otlpMetrics, otlpTraces, resources, traces }
  } catch (cause) {
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, and the OpenTelemetry packages are not installed: npm install @opentelemetry/api @opentelemetry/core @opentelemetry/resources @opentelemetry/sdk-metrics @opentelemetry/sdk-trace-base @opentelemetry/exporter-metrics-otlp-http @opentelemetry/exporter-trace-otlp-http',
      { cause },
    )
  }
}

/** Parses `name=value,name=value` with percent-encoded values. */
export function headersOf(text: string | null): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
