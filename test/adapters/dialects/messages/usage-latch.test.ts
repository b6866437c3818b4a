import fc from 'fast-check'
import { expect, it } from 'vitest'
import { UsageLatch } from '../../../../adapters/dialects/messages/stream/usage-latch.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'

function latched(reports: JsonObject[]) {
  const latch = new UsageLatch()
  for (const report of reports) latch.observe(report)
  return latch.result()
}

const cases: [string, JsonObject[], object][] = [
  [
    'Qwen: the full prompt first, the split at the end',
    [
      { input_tokens: 8834, output_tokens: 0 },
      { input_tokens: 18, cache_read_input_tokens: 8831, output_tokens: 9 },
    ],
    { inputTotal: 8849, cacheRead: 8831, outputTotal: 9 },
  ],
  [
    'Kimi: an explicit zero first is not counted twice',
    [
      { input_tokens: 8849, cache_read_input_tokens: 0, output_tokens: 0 },
      { input_tokens: 18, cache_read_input_tokens: 8831, output_tokens: 9 },
    ],
    { inputTotal: 8849, cacheRead: 8831 },
  ],
  [
    'Anthropic: the prompt at the start, the output at the end',
    [
      {
        input_tokens: 18,
        cache_read_input_tokens: 8831,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
        output_tokens: 1,
      },
      { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
    ],
    { inputTotal: 8949, cacheRead: 8831, cacheWrite: 100, cacheWrite5m: 60, cacheWrite1h: 40, outputTotal: 9, reasoning: 4 },
  ],
  [
    'MiniMax: zero first',
    [
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 42, output_tokens: 7 },
    ],
    { inputTotal: 42, outputTotal: 7 },
  ],
  [
    'a tie: the larger',
    [
      { input_tokens: 50, output_tokens: 0 },
      { input_tokens: 40, output_tokens: 7 },
    ],
    { inputTotal: 50 },
  ],
  [
    'only the ephemeral breakdown counts as cache',
    [
      { input_tokens: 500, output_tokens: 0 },
      { input_tokens: 20, cache_creation: { ephemeral_5m_input_tokens: 480 }, output_tokens: 7 },
    ],
    { inputTotal: 500, cacheWrite: 480, cacheWrite5m: 480 },
  ],
  [
    'web search: the counters of the extra turns win',
    [
      { input_tokens: 2679, output_tokens: 3 },
      { input_tokens: 10_682, output_tokens: 510, server_tool_use: { web_search_requests: 1 } },
    ],
    { inputTotal: 10_682, outputTotal: 510, serverTools: { web_search_requests: 1 } },
  ],
  [
    'server tools that nothing names: the cumulative end wins',
    [
      { input_tokens: 2751, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 3 },
      { input_tokens: 320_032, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 8210 },
    ],
    { inputTotal: 320_032, outputTotal: 8210 },
  ],
  [
    'a start that names server tools does not beat the larger end',
    [
      { input_tokens: 2751, output_tokens: 3, server_tool_use: { web_search_requests: 1 } },
      { input_tokens: 320_032, output_tokens: 8210 },
    ],
    { inputTotal: 320_032, serverTools: { web_search_requests: 1 } },
  ],
]

it.each(cases)('usage reports in any order: %s', (_, reports, expected) => {
  expect(latched(reports)).toMatchObject({ ...expected, estimated: false })
  expect({ ...latched(reports.toReversed()), raw: null }).toEqual({ ...latched(reports), raw: null })
})

it('compaction is summed, unless a fallback answered; the advisor bills separately', () => {
  const entry = (type: string, input: number, output: number) => ({ type, input_tokens: input, output_tokens: output })
  const top = { input_tokens: 10, output_tokens: 5 }
  const counted = [entry('compaction', 100, 20), entry('message', 10, 5), entry('advisor_message', 1000, 1000)]
  expect(latched([{ ...top, iterations: counted }])).toMatchObject({ inputTotal: 110, outputTotal: 25 })
  expect(latched([{ ...top, iterations: [...counted, entry('fallback_message', 10, 5)] }])).toMatchObject({
    inputTotal: 10,
    outputTotal: 5,
  })
})

it('nonsense counts as missing, an explicit zero stays', () => {
  expect(latched([{ input_tokens: -1, output_tokens: 'x' }])).toBeNull()
  expect(latched([{ input_tokens: 0, output_tokens: 0 }])).toMatchObject({ inputTotal: 0, outputTotal: 0, estimated: false })
  expect(latched([])).toBeNull()
})

it('the result does not depend on the order', () => {
  const count = fc.option(fc.integer({ min: -1, max: 20 }), { nil: undefined })
  const report = fc.record({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), fc.tuple(report, report, report), (order, reports) => {
      const plain = reports as unknown as JsonObject[]
      const shuffled = order.map((index) => plain[index] as JsonObject)
      expect({ ...latched(shuffled), raw: null }).toEqual({ ...latched(plain), raw: null })
    }),
  )
})

it('with equal cache shares no report books fewer input tokens than the largest, whichever names server tools', () => {
  const report = fc.record({ input: fc.nat(400_000), tools: fc.boolean() })
  fc.assert(
    fc.property(fc.array(report, { minLength: 1, maxLength: 5 }), fc.nat(10_000), (reports, cached) => {
      const wire = reports.map(({ input, tools }) => ({
        input_tokens: input,
        cache_read_input_tokens: cached,
        output_tokens: 1,
        ...(tools ? { server_tool_use: { web_search_requests: 1 } } : {}),
      }))
      expect(latched(wire)?.inputTotal).toBe(Math.max(...reports.map(({ input }) => input)) + cached)
    }),
  )
})
