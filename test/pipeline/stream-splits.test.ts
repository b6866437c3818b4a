// An upstream's bytes may be split anywhere: at every byte offset and in one-byte reads the client gets the same bytes as from one read,
// in every lane.
import { afterAll, describe, expect, it } from 'vitest'
import { createTestGateway, RENDERERS, type Reply, type TestGateway } from '../../adapters/testing/index.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from './support/accounts.ts'
import { memoryTransport, type Sent } from './support/memory-transport.ts'
import { pathAndBody } from './support/wire.ts'

const REPLY: Reply = {
  reasoning: { text: 'hm 🤔' },
  text: 'né 👍🏽!',
  toolCalls: [{ id: 'call_7', name: 'look', args: '{"at":"ü"}' }],
  chunk: 3,
}
const PAIRS: [Dialect, Dialect, boolean?][] = [
  ...DIALECTS.map((dialect): [Dialect, Dialect] => [dialect, dialect]),
  ['chat', 'messages'],
  ['messages', 'responses'],
  ['responses', 'generate_content'],
  ['generate_content', 'chat', true],
]

let play: (sent: Sent) => unknown = () => {}
const transport = memoryTransport((sent) => play(sent))
let made: Promise<TestGateway> | null = null
const gateway = () => {
  made ??= createTestGateway({ ports: { transport } })
  return made
}
let offsets = 0
afterAll(async () => {
  await (await gateway()).close()
  process.stdout.write(`stream splits: ${offsets} splits, no difference\n`)
})

async function answerTo(caller: Dialect, upstream: Dialect, array: boolean, reads: readonly Uint8Array[]): Promise<string> {
  const t = await gateway()
  play = async (sent) => {
    sent.head()
    for (const read of reads) {
      const waiting = sent.push(read)
      if (waiting !== undefined) await waiting
    }
    sent.end()
  }
  const { path, body } = pathAndBody(caller, `${upstream}/m`, true, array)
  const response = await t.post(path, body)
  return masked(await response.text())
}

/** Ids and times of the gateway are numbered in order of appearance. */
function masked(text: string): string {
  const seen = new Map<string, string>()
  return text
    .replace(
      /\b((?:chatcmpl-|msg_|resp_|call_|fc_|rs_|toolu_|req_)[A-Za-z0-9]{20,})|"(responseId|id)":"([A-Za-z0-9_-]{20,})"/g,
      (whole) => {
        if (!seen.has(whole)) seen.set(whole, `<${seen.size}>`)
        return seen.get(whole) as string
      },
    )
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
}

describe.each(PAIRS)('%s ← %s (JSON array: %s)', (caller, upstream, array = false) => {
  const frames = RENDERERS[upstream].frames(REPLY).map((frame) => Buffer.from(frame))
  const bytes = Buffer.concat(frames)
  // With this distance no event is split twice. Each offset is tested as if alone, and many in one stream.
  const apart = Math.max(...frames.map(({ length }) => length)) + 1

  it('is the same whatever the reads', { timeout: 120_000 }, async () => {
    const whole = await answerTo(caller, upstream, array, [bytes])
    expect(whole).toContain('look')
    expect(whole).toContain('👍🏽')
    expect(whole).not.toContain('\uFFFD')
    for (let first = 1; first <= apart; first++) {
      const reads: Uint8Array[] = []
      let start = 0
      for (let at = first; at < bytes.length; at += apart) {
        offsets++
        reads.push(bytes.subarray(start, at))
        start = at
      }
      const split = await answerTo(caller, upstream, array, [...reads, bytes.subarray(start)])
      if (split !== whole) expect(split, `split at ${first} and every ${apart} bytes on`).toBe(whole)
    }
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
    expect(await answerTo(caller, upstream, array, single)).toBe(whole)
    // With an empty read in between, and buffers that their owner reuses after a turn of the event loop.
    expect(await answerTo(caller, upstream, array, [bytes.subarray(0, 40), Buffer.alloc(0), bytes.subarray(40)])).toBe(whole)
  })
})
