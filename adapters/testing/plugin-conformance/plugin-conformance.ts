// Contract tests for plugins: each endpoint, streamed and not, between all pairs of dialects, at every split of the bytes; failing
// upstreams; clients that leave; and a latency limit. `for (const { name, run } of pluginConformance(() => mine({ … }))) it(name, run,
// 30_000)`.
import assert from 'node:assert/strict'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { ContractCase } from '../contracts/contract.ts'
import { DIALECTS, OTHER_ENDPOINTS, requestOf } from '../requests.ts'
import { reply } from '../script.ts'
import { faultCases } from './faults.ts'
import { latencyCases } from './latency.ts'
import type { PluginConformanceOptions } from './options.ts'
import { judged, type Run, running } from './run.ts'
import { KIT_REPLIES, streamCases } from './streams.ts'
import { timerCase } from './timers.ts'

/** Returns cases for any test runner; each starts its own gateways and calls `make` for them. */
export function pluginConformance(make: () => Plugin, options: PluginConformanceOptions = {}): ContractCase[] {
  const run = running(make, options)
  return [
    lifeCase(run),
    ...DIALECTS.flatMap((caller) => [answerCase(run, caller, false, options), answerCase(run, caller, true, options)]),
    ...OTHER_ENDPOINTS.map(
      (endpoint): ContractCase => ({
        name: `${endpoint.method} ${endpoint.path} is answered or refused`,
        run: () => run(async (t) => void (await judged(t, endpoint))),
      }),
    ),
    ...streamCases(make, run, options),
    timerCase(run, running(definePlugin({ name: 'nothing', setup() {} }), options)),
    ...faultCases(run),
    ...latencyCases(make, options),
  ]
}

function lifeCase(run: Run): ContractCase {
  return {
    name: 'two gateways of one process have one each, and the end of one is not that of the other',
    run: () =>
      run(async (first) => {
        await run(async (second) => {
          await judged(second, requestOf('chat', 'chat', false))
        })
        await judged(first, requestOf('chat', 'chat', false))
      }),
  }
}

/** For every upstream dialect and recording, whole or in small pieces, the answer must be the same. */
function answerCase(
  run: Run,
  caller: (typeof DIALECTS)[number],
  stream: boolean,
  { recordings = KIT_REPLIES }: PluginConformanceOptions,
): ContractCase {
  return {
    name: `${caller}, ${stream ? 'streamed' : 'whole'}: answers of every dialect come through complete, however they are cut`,
    run: () =>
      run(async (t) => {
        for (const upstream of DIALECTS) {
          for (const [name, recording] of Object.entries(recordings)) {
            const where = `${name}, from ${upstream}`
            t.upstream.script(reply(recording))
            const whole = await judged(t, requestOf(caller, upstream, stream), where)
            t.upstream.script(reply(recording, { splitBytes: 7 }))
            const cut = await judged(t, requestOf(caller, upstream, stream), `${where}, in pieces of 7 bytes`)
            assert.deepEqual(cut.meaning, whole.meaning, `${where}: cut into pieces it is another answer`)
          }
        }
      }),
  }
}
