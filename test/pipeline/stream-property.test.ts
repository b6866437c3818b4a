// For every pair of dialects the client reads exactly the upstream's content, for any split of the bytes.
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestGateway, type Reply, type TestGateway } from '../../adapters/testing/index.ts'
import { DIALECTS } from './support/accounts.ts'
import { interleaved } from './support/interleave.ts'
import { memoryTransport, type Sent } from './support/memory-transport.ts'
import { parseStream } from './support/parse-stream.ts'

let play: (sent: Sent) => unknown = () => {}
const transport = memoryTransport((sent) => play(sent))
let made: Promise<TestGateway> | null = null
const gateway = () => {
  made ??= createTestGateway({ ports: { transport } })
  return made
}
let runs = 0
afterAll(async () => {
  await (await gateway()).close()
  process.stdout.write(`stream property: ${runs} random streams, no difference\n`)
})

const words = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  fc.constantFrom(
    'data: x\n\ndata: [DONE]\n\n',
    'a\r\nb\rc',
    '\u2028\u2029',
    '{"error":{"message":"no"}}',
    'event: error\n',
    '</s>',
    ': ping\n\n',
    '\\"',
    '👩‍👩‍👧',
  ),
)
const args = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.array(words, { maxLength: 3 })),
  {
    maxKeys: 4,
  },
)
const call = fc.record({ name: fc.stringMatching(/^[a-z][a-z_]{0,12}$/), args })
const reply = fc
  .record({
    text: fc.array(words, { maxLength: 4 }).map((list) => list.join('')),
    reasoning: fc.option(words, { nil: undefined }),
    calls: fc.array(call, { maxLength: 3 }),
    chunk: fc.integer({ min: 1, max: 9 }),
  })
  .filter(({ text, calls }) => text.trim() !== '' || calls.length > 0)
const scene = fc.record({
  reply,
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }),
  order: fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
})

function scripted({ text, reasoning, calls, chunk }: typeof reply extends fc.Arbitrary<infer T> ? T : never): Reply {
  return {
    ...(text === '' ? {} : { text }),
    ...(reasoning === undefined ? {} : { reasoning: { text: reasoning } }),
    toolCalls: calls.map(({ name, args: value }, index) => ({
      id: `call_${index}abcdefghij`,
      name,
      args: JSON.stringify(value),
    })),
    chunk,
  }
}

const sorted = (calls: object[]) => calls.map((one) => JSON.stringify(one)).sort()

describe.each(DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream }))))('$caller ← $upstream', ({
  caller,
  upstream,
}) => {
  it('reads what was said', { timeout: 120_000 }, async () => {
    const t = await gateway()
    await fc.assert(
      fc.asyncProperty(scene, async ({ reply: said, cuts, order }) => {
        runs++
        const frames = interleaved(upstream, scripted(said), (n) => Math.floor((order.next().value as number) * n))
        const bytes = Buffer.from(frames.join(''))
        const at = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b)
        play = async (sent) => {
          sent.head()
          for (let i = 1; i < at.length; i++) await sent.push(bytes.subarray(at[i - 1], at[i]))
          sent.end()
        }
        const parsed = await parseStream(caller, `${upstream}/m`, (input, init) => {
          const url = new URL(String(input))
          return t.fetch(url.pathname + url.search, init)
        })
        expect(parsed.text).toBe(said.text)
        const calls = parsed.calls.map(({ name, args: value }) => ({ name, args: value }))
        // A functionCall is sent whole: among interleaved ones the first complete one is first.
        if (caller === 'generate_content') expect(sorted(calls)).toEqual(sorted(said.calls))
        else expect(calls).toEqual(said.calls)
        if (upstream !== 'generate_content' && caller !== 'generate_content')
          expect(parsed.calls.map(({ id }) => id)).toEqual(said.calls.map((_, index) => `call_${index}abcdefghij`))
        expect(parsed.stopped).toBe(said.calls.length > 0 ? 'tool_calls' : 'stop')
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 60) },
    )
  })
})
