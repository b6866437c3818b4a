// Tests a plugin with failing upstreams and leaving callers: the request ends exactly once, and the next one is served.
import assert from 'node:assert/strict'
import type { ContractCase } from '../contracts/contract.ts'
import { DIALECTS, requestOf } from '../requests.ts'
import { broken, fail, raw, reset, type Step, text } from '../script.ts'
import { answered, judged, type Run } from './run.ts'

const LONG = 'A heron is a wading bird with long legs, a long neck and much patience.'

const FAULTS: Readonly<Record<string, Step>> = {
  'answers 500': fail(500),
  'answers 429': fail(429, { headers: { 'retry-after': '1' } }),
  'answers 400': fail(400),
  'resets the connection': reset(),
  'sends what is no JSON': raw(200, '{"choices":'),
  'reports an error inside its answer': broken({ text: LONG }, 3),
  'ends its answer half-way': text(LONG, { cut: { after: 4, how: 'fin' } }),
  'breaks its answer off': text(LONG, { cut: { after: 4, how: 'reset' } }),
}

export function faultCases(run: Run): ContractCase[] {
  return [
    ...Object.entries(FAULTS).map(
      ([fault, step]): ContractCase => ({
        name: `an upstream that ${fault}: the request ends, and the next one is served`,
        run: () => faced(run, step),
      }),
    ),
    { name: 'a caller that leaves in the middle: the request ends, and the next one is served', run: () => left(run) },
  ]
}

async function faced(run: Run, step: Step): Promise<void> {
  for (const caller of DIALECTS) {
    for (const stream of [false, true]) {
      await run(async (t) => {
        t.upstream.script(step)
        const { status, text: said } = await answered(t, requestOf(caller, 'chat', stream))
        await t.untilSettled(1)
        // A 503 `plugin_failed` would be a failure of the plugin.
        assert.doesNotMatch(said, /plugin_failed|internal_error/, `${caller}: ${status} ${said.slice(0, 300)}`)
        t.upstream.script(text('It goes on.'))
        await judged(t, requestOf(caller, 'messages', stream), `${caller}: the request behind it`)
        assert.equal(t.settled.length, 2, 'each request settles once')
      })
    }
  }
}

async function left(run: Run): Promise<void> {
  for (const caller of DIALECTS) {
    await run(async (t) => {
      t.upstream.script(text(LONG, { stallAfter: 6 }))
      const { path, body } = requestOf(caller, 'chat', true)
      const leaving = new AbortController()
      const asked = t.fetch(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
        signal: leaving.signal,
      })
      // A plugin may hold the whole answer back; then the caller leaves before there is a head.
      while (t.upstream.requests.length === 0 && t.settled.length === 0) await new Promise((resolve) => setImmediate(resolve))
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      leaving.abort()
      await asked.then((response) => response.body?.cancel()).catch(() => {})
      await t.untilSettled(1)
      t.upstream.script(text('It goes on.'))
      await judged(t, requestOf(caller, 'messages', false), `${caller}: the request behind it`)
    })
  }
}
