// Measures the latency that a plugin adds: the same requests with and without it in turn, answered without a network.
import assert from 'node:assert/strict'
import type { GatewayConfig } from '../../../core/config/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { ContractCase } from '../contracts/contract.ts'
import { requestFor, type TestRequest } from '../requests.ts'
import { createTestGateway, type TestGateway } from '../test-gateway.ts'
import type { PluginConformanceOptions } from './options.ts'
import { answered } from './run.ts'

const DEFAULT_BUDGET_MS = 2
const WARM_UP = 30
const ROUNDS = 100
const TRIES = 3
const ECHO: GatewayConfig = { connections: { echo: { provider: 'echo' } } }

export function latencyCases(make: () => Plugin, options: PluginConformanceOptions): ContractCase[] {
  const { latencyMs = DEFAULT_BUDGET_MS } = options
  return [false, true].map((stream) => ({
    name: `a ${stream ? 'streamed' : 'whole'} answer takes at most ${latencyMs} ms longer with it, in the median`,
    async run() {
      let added = Number.POSITIVE_INFINITY
      // A slow plugin is slow in every run, so retry: only a busy machine is slow in some.
      for (let tries = 0; tries < TRIES && added > latencyMs; tries++)
        added = Math.min(added, await addedMs(make, options, requestFor('chat', 'echo/echo-1', stream)))
      assert.ok(added <= latencyMs, `it takes ${added.toFixed(2)} ms longer in the median, ${latencyMs} ms are allowed`)
    },
  }))
}

async function addedMs(
  make: () => Plugin,
  { beside = () => [], env = {} }: PluginConformanceOptions,
  request: TestRequest,
): Promise<number> {
  const without = await createTestGateway({ plugins: beside(), env, config: ECHO })
  const withIt = await createTestGateway({ plugins: [...beside(), make()], env, config: ECHO })
  try {
    const times = { without: [] as number[], withIt: [] as number[] }
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const [one, other] = [await timed(without, request), await timed(withIt, request)]
      if (round < WARM_UP) continue
      times.without.push(one)
      times.withIt.push(other)
    }
    return median(times.withIt) - median(times.without)
  } finally {
    await without.close()
    await withIt.close()
  }
}

async function timed(t: TestGateway, request: TestRequest): Promise<number> {
  const start = performance.now()
  await answered(t, request)
  return performance.now() - start
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
