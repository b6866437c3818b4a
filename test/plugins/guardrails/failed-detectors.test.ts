// An answer that a failing detector let pass is not cached, and a caller that leaves is not a failure of a detector.
import { afterEach, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Detector } from '../../../plugins/guardrails/service.ts'
import { ask, HOUR } from '../exact-cache/support.ts'
import { guarded } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

async function open(detector: Detector): Promise<void> {
  const owner = definePlugin({
    name: 'own-detector',
    requires: ['guardrails'],
    setup: (gateway) => void gateway.use('guardrails').detector(detector),
  })
  t = await guarded({ plugins: [owner()], env: HOUR })
}

it('an answer that was not judged is asked for again', async () => {
  let asked = 0
  await open({
    name: 'judge',
    stage: ['output'],
    mode: 'block',
    failOpen: true,
    remote: true,
    async check() {
      if (++asked === 1) throw new Error('away')
      return []
    },
  })
  for (const cache of ['miss', 'miss', 'hit']) expect(await ask(t, 'chat')).toMatchObject({ status: 200, cache })
  expect(t.upstream.requests).toHaveLength(2)
})

it('when the caller leaves, no further text is asked about and nothing counts as failed', async () => {
  let asked = 0
  const gone = new AbortController()
  await open({
    // Longer than the machine may stall, because here slowness must not end the call.
    name: 'judge',
    stage: ['input'],
    mode: 'log',
    remote: true,
    timeoutMs: 60_000,
    check() {
      // The maximum number of concurrent calls; it never answers, and ignores the abort.
      if (++asked === 8) gone.abort()
      return new Promise<never>(() => {})
    },
  })
  const messages = Array.from({ length: 20 }, (_, index) => ({ role: 'user', content: `text ${index}` }))
  const { url } = await t.listen()
  const answer = fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat/m', messages }),
    signal: gone.signal,
  })
  await expect(answer).rejects.toThrow()
  await t.untilSettled()
  expect(asked).toBe(8)
  expect(t.upstream.requests).toHaveLength(0)
  expect(t.settled[0]?.outcome).toMatchObject({ status: 499, aborted: true })
  expect(await (await t.fetch('/metrics')).text()).not.toMatch(
    /gateway_guardrail_total\{detector="judge",action="failed"\} [1-9]/,
  )
})
