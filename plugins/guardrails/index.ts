// Guardrails inspect requests and answers for secrets, personal data, topics, words and prompt injection. Callers cannot switch them off.
// When they are off, they register no hooks.
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { combinedPolicy } from './combined.ts'
import { guard } from './guard.ts'
import { guardOperations } from './operations.ts'
import { type Policy, policyOf } from './policy.ts'
import type { Detector } from './service.ts'
import { type SettingKey, type Settings, settings } from './settings.ts'

export const guardrails = definePlugin({
  name: 'guardrails',
  settings,
  setup(gateway) {
    const keys = Object.keys(settings) as SettingKey[]
    const policies: (orgId: number | null) => { set: Settings; policy: Policy } = gateway.settings.compiled((get, orgId) => {
      const set = Object.fromEntries(keys.map((key) => [key, get(key)])) as Settings
      const policy: Policy = orgId === null ? policyOf(set) : combinedPolicy(policies(null).set, set)
      return { set, policy }
    })

    const counter = gateway.metrics.counter(
      'guardrail_total',
      'What guardrails found, by detector and what was done; `failed`: a detector broke.',
      ['detector', 'action'],
    )
    const detectors = new Map<string, Detector>()
    const guarding = guard({
      gateway,
      keys: gateway.optional('keys'),
      caches: gateway.optional('exactCache'),
      policy: (orgId) => policies(orgId).policy,
      detectors,
      counted: (detector, action) => counter.labels(detector, action).inc(),
    })

    gateway.provide('guardrails', {
      detector(detector) {
        if (detectors.has(detector.name) || BUILT_IN.has(detector.name))
          throw new Error(`There is a guardrail detector \`${detector.name}\` already.`)
        detectors.set(detector.name, detector)
        return () => void detectors.delete(detector.name)
      },
      input: guarding.input,
      output: async (ctx, texts) => (guarding.readsOutput(ctx) ? guarding.output(ctx, texts) : texts),
      tighten: guarding.tighten,
    })

    gateway.hook('request', (ctx) => guarding.request(ctx as RequestContext<'chat'>), { when: guarding.readsRequest })
    // Runs outside the strategies of virtual models.
    gateway.hook('call', guarding.call, { order: 'pre', when: guarding.readsBack })
    gateway.hook('stream', guarding.stream, { when: guarding.readsAnswer })
    gateway.hook('stream:batch', guarding.batch, { when: guarding.asksAboutAnswer })
    gateway.hook('response', (ctx, response: Frozen<CanonicalResponse>) => guarding.response(ctx, response), {
      operation: 'chat',
      when: (ctx) => guarding.readsAnswer(ctx) || guarding.asksAboutAnswer(ctx),
    })

    guardOperations(gateway, gateway.use('operations'), guarding)

    const cachePolicy = gateway.optional('cachePolicy')
    gateway.hook('ready', () => cachePolicy()?.version('guardrails', guarding.version))
  },
})

const BUILT_IN = new Set(['prompt_injection', 'secrets', 'pii', 'topics', 'keywords'])

export default guardrails
