// Serves /metrics with core and GenAI metrics of settled requests. Label values come from routes and connections, never from a request; a
// limited number of models that upstreams answered for has its own label.
import { z } from 'zod'
import { memoize } from '../../core/collections/memoize.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { answererOf } from '../../core/records/request-record.ts'
import { type MetricsRules, readerOf } from './access.ts'
import { genAiRecorder } from './gen-ai.ts'
import { shownNames } from './names.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const FIRST_TOKEN = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Each figure counts the requests of all organizations. */
const FOR_TENANTS = `# The figures of this gateway are for its operator. Those of your organization are in /api/usage and /api/reports.
# HELP gateway_up 1 while the gateway answers.
# TYPE gateway_up gauge
gateway_up 1
`

export const metrics = definePlugin({
  name: 'metrics',
  config: z.strictObject({
    /** /metrics accepts a session or management token, never a client key. */
    requireOperator: z.boolean().default(false),
    /** The data plane needs client keys; then /metrics needs a credential too. */
    requireApiKey: z.boolean().default(false).meta({ env: 'REQUIRE_API_KEY' }),
  }),
  variables: {
    METRICS_REQUIRE_OPERATOR: { option: 'requireOperator', about: '/metrics accepts operator credentials only.' },
  },
  setup(gateway, { requireOperator, requireApiKey }) {
    const exposition = gateway.use('exposition')
    const shown = shownNames(gateway.use('configuration').known)
    const route = ['operation', 'dialect', 'provider']
    const { tally } = gateway.metrics
    const requests = tally('requests_total', 'Requests by final status; 499 = the client left, 502 = a started stream failed.', [
      ...route,
      'status',
    ])
    const duration = tally('request_duration_seconds', 'From ingress to the end of the answer.', route, SECONDS)
    const firstToken = tally(
      'time_to_first_token_seconds',
      'From ingress to the first content byte of a stream.',
      route,
      FIRST_TOKEN,
    )
    const tokens = tally('tokens_total', 'Tokens by type: input, cache_read, cache_write, output, reasoning.', [
      'provider',
      'type',
    ])
    const cost = tally('cost_usd_total', 'What upstream calls cost; those without a known price add nothing.', ['provider'])
    const attempts = tally('attempts_total', 'Upstream attempts by result.', ['provider', 'result'])
    const billedBy = memoize((provider) => ({
      input: tokens.series(provider, 'input'),
      cacheRead: tokens.series(provider, 'cache_read'),
      cacheWrite: tokens.series(provider, 'cache_write'),
      output: tokens.series(provider, 'output'),
      reasoning: tokens.series(provider, 'reasoning'),
      cost: cost.series(provider),
    }))
    const genAi = genAiRecorder(gateway.metrics, shown)
    const live = gateway.metrics.gauge('requests_in_flight', 'Requests being served.')
    Object.assign(live, { collect: () => live.set([...gateway.live()].length) })

    gateway.hook('settled', (ctx, outcome) => {
      // A cached answer has no provider: it would make the provider look faster than it is.
      const { orgId } = ctx.principal
      const answerer = outcome.cached === false ? (answererOf(ctx, outcome)?.provider ?? null) : null
      const provider = answerer === null ? 'none' : shown.provider(answerer, orgId)
      requests.series(ctx.operation, ctx.dialect, provider, String(outcome.status)).add(1)
      duration.series(ctx.operation, ctx.dialect, provider).add(outcome.latencyMs / 1000)
      if (ctx.stream && outcome.firstByteMs !== null)
        firstToken.series(ctx.operation, ctx.dialect, provider).add(outcome.firstByteMs / 1000)
      for (const { candidate, action } of ctx.attempts)
        attempts.series(shown.provider(candidate.connection.provider, orgId), action ?? 'failed').add(1)
      for (const { provider: by, usage, costNano } of outcome.steps) {
        const billed = billedBy(shown.provider(by, orgId))
        billed.input.add(usage.inputTotal)
        billed.cacheRead.add(usage.cacheRead)
        billed.cacheWrite.add(usage.cacheWrite)
        billed.output.add(usage.outputTotal)
        billed.reasoning.add(usage.reasoning ?? 0)
        billed.cost.add((costNano ?? 0) / 1e9)
      }
      genAi(ctx, outcome)
    })

    const keys = gateway.optional('keys')
    const signIn = gateway.optional('signIn')
    const rules: MetricsRules = {
      open: () => !requireOperator && !requireApiKey && signIn()?.required !== true,
      operatorOnly: requireOperator,
      operators: gateway.optional('operators'),
      organizationOf: (secret) => {
        const key = keys()?.find(secret) ?? null
        return key !== null && keys()?.expired(key) === false ? key.orgId : undefined
      },
    }

    gateway.api({
      method: 'GET',
      path: '/metrics',
      summary: 'Prometheus exposition. Callers of one organization get `gateway_up` only.',
      // The handler checks credentials itself: client keys are accepted here.
      role: 'public',
      async handler({ request, peer }) {
        const headers = { 'content-type': exposition.contentType }
        if ((await readerOf(request, peer, rules)) === 'tenant') return new Response(FOR_TENANTS, { headers })
        return new Response(await exposition.text(), { headers })
      },
    })
  },
})

export default metrics
