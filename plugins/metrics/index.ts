// Core and GenAI metrics from settled requests, and /metrics. Label values come from routes and connections,
// never from a request (RELIABILITY D9).
import type { Counter, Histogram } from 'prom-client'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Outcome, RequestContext } from '../../core/types/context.ts'

const SHORT = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const metrics = definePlugin({
  name: 'metrics',
  setup(gateway) {
    const exposition = gateway.use('exposition')
    const labels = ['operation', 'dialect', 'provider']
    const requests = gateway.metrics.counter(
      'requests_total',
      'Requests by final status; 499 = the client left, 502 = a started stream failed.',
      [...labels, 'status'],
    )
    const duration = gateway.metrics.histogram('request_duration_seconds', 'From ingress to the end of the answer.', labels)
    const firstByte = gateway.metrics.histogram(
      'time_to_first_token_seconds',
      'From ingress to the first content byte of a stream.',
      labels,
      SHORT,
    )
    const tokens = gateway.metrics.counter('tokens_total', 'Tokens by type: input, cache_read, cache_write, output, reasoning.', [
      'provider',
      'type',
    ])
    const attempts = gateway.metrics.counter('attempts_total', 'Upstream attempts by what became of them.', [
      'provider',
      'result',
    ])
    const live = gateway.metrics.gauge('requests_in_flight', 'Requests being served.')
    const bound = new BoundSeries(requests, duration, firstByte)
    const counted = new BoundCounter(tokens, 'type')
    const attempted = new BoundCounter(attempts, 'result')

    gateway.hook('settled', (ctx, outcome) => {
      bound.observe(ctx, outcome)
      for (const { candidate, action } of ctx.attempts) attempted.add(candidate.connection.provider, action ?? 'failed', 1)
      for (const { provider, usage } of outcome.steps) {
        counted.add(provider, 'input', usage.inputTotal)
        counted.add(provider, 'cache_read', usage.cacheRead)
        counted.add(provider, 'cache_write', usage.cacheWrite)
        counted.add(provider, 'output', usage.outputTotal)
        counted.add(provider, 'reasoning', usage.reasoning ?? 0)
      }
    })

    gateway.api({
      method: 'GET',
      path: '/metrics',
      summary: 'Prometheus exposition.',
      role: 'public',
      async handler() {
        live.set([...gateway.live()].length)
        return new Response(await exposition.text(), { headers: { 'content-type': exposition.contentType } })
      },
    })
  },
})

/** Label lookups cost more than the counting: one bound child per combination seen. */
class BoundSeries {
  readonly #requests: Counter
  readonly #duration: Histogram
  readonly #firstByte: Histogram
  readonly #bound = new Map<
    string,
    { count: { inc(): void }; took: { observe(value: number): void }; first: { observe(value: number): void } }
  >()

  constructor(requests: Counter, duration: Histogram, firstByte: Histogram) {
    this.#requests = requests
    this.#duration = duration
    this.#firstByte = firstByte
  }

  observe(ctx: RequestContext, outcome: Outcome): void {
    const provider = ctx.candidate?.connection.provider ?? 'none'
    const key = `${ctx.operation} ${ctx.dialect} ${provider} ${outcome.status}`
    let series = this.#bound.get(key)
    if (series === undefined) {
      const labels = { operation: ctx.operation, dialect: ctx.dialect, provider }
      series = {
        count: this.#requests.labels({ ...labels, status: String(outcome.status) }),
        took: this.#duration.labels(labels),
        first: this.#firstByte.labels(labels),
      }
      this.#bound.set(key, series)
    }
    series.count.inc()
    series.took.observe(outcome.latencyMs / 1000)
    if (ctx.stream && outcome.firstByteMs !== null) series.first.observe(outcome.firstByteMs / 1000)
  }
}

class BoundCounter {
  readonly #counter: Counter
  readonly #label: string
  readonly #bound = new Map<string, { inc(by: number): void }>()

  constructor(counter: Counter, label: string) {
    this.#counter = counter
    this.#label = label
  }

  add(provider: string, value: string, count: number): void {
    if (count <= 0) return
    const key = `${provider} ${value}`
    let series = this.#bound.get(key)
    if (series === undefined) {
      series = this.#counter.labels({ provider, [this.#label]: value })
      this.#bound.set(key, series)
    }
    series.inc(count)
  }
}

export default metrics
