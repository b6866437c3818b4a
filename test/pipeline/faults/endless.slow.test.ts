// An upstream that sends without end. Memory and time are limited, whatever it sends.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fakeClock, type TestGatewayOptions } from '../../../adapters/testing/index.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { DIALECTS } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { framesOf, nameOf } from '../support/faults.ts'
import { type MemoryTransport, memoryTransport, type Sent } from '../support/memory-transport.ts'
import { pathAndBody } from '../support/wire.ts'

const count = cells('fault matrix, endless')
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close()
})

const MIB = 1 << 20

/** Pushes until the gateway aborts; at `limit` the test gives up. */
async function flood(sent: Sent, chunk: Uint8Array, limit: number): Promise<void> {
  while (sent.aborted === null && sent.pushed < limit) {
    await sent.push(chunk)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function gateway(transport: MemoryTransport, more: TestGatewayOptions = {}) {
  const t = await createTestGateway({ ...more, ports: { transport, ...more.ports } })
  closing.push(t)
  return t
}

describe('without content', () => {
  const floods: [string, boolean, (sent: Sent) => Promise<void>, number][] = [
    ['an answer in JSON that never closes', true, (sent) => open(sent, '{"id":"', 200), 64 * MIB],
    ['white space', true, (sent) => open(sent, ' ', 200, 32), 64 * MIB],
    ['an error body', true, (sent) => open(sent, '{"error":{"message":"', 500), MIB],
    ['an error body', false, (sent) => open(sent, '{"error":{"message":"', 500), MIB],
    ['comments', true, (sent) => open(sent, `: ${'x'.repeat(MIB)}\n\n`, 200, null), 257 * MIB],
  ]
  async function open(sent: Sent, start: string, status: number, filler: number | null = 120): Promise<void> {
    sent.head(status)
    if (filler === null) return flood(sent, Buffer.from(start), 300 * MIB)
    sent.push(start)
    return flood(sent, Buffer.alloc(MIB, filler), 100 * MIB)
  }

  it.each(floods)('%s (stream: %s)', async (title, stream, play, bound) => {
    const transport = memoryTransport(play)
    const t = await gateway(transport)
    await count.run('51', `${title}, ${stream}`, async () => {
      const { path, body } = pathAndBody('chat', 'chat/m', stream)
      const response = await t.post(path, body)
      const status = title === 'an error body' ? 500 : 502
      expect(response.status).toBe(status)
      expect(((await response.json()) as { error: { code: string } }).error.code).toBe('upstream_error')
      const [sent] = transport.sent
      expect(sent?.aborted).not.toBeNull()
      expect(sent?.pushed).toBeLessThanOrEqual(bound + 2 * MIB)
      await t.untilSettled()
      expect(t.settled[0]?.outcome).toMatchObject({ status, usage: { total: 0 } })
    })
  })

  it('a plain answer is bounded by the transport', async () => {
    const t = await createTestGateway({ ports: { transport: undiciTransport({ maxResponseBytes: 100_000 }) } })
    closing.push(t)
    for (const caller of DIALECTS) {
      await count.run('51', `${caller} plain`, async () => {
        t.upstream.script({ kind: 'raw', status: 200, body: `{"id":"${'x'.repeat(200_000)}"}` })
        const { path, body } = pathAndBody(caller, `${caller}/m`, false)
        expect((await t.post(path, body)).status).toBe(502)
      })
    }
  })
})

describe('with content', () => {
  const cases = DIALECTS.flatMap((caller) => [
    { caller, upstream: caller, stream: true },
    ...(caller === 'chat' ? [] : [{ caller, upstream: 'chat' as const, stream: true }]),
  ])

  it('256 MiB of stream end in the error frame', { timeout: 300_000 }, async () => {
    for (const cell of cases.slice(0, 3)) {
      const { head, content } = framesOf(cell.upstream, 'x'.repeat(2 * MIB), MIB)
      const transport = memoryTransport(async (sent) => {
        sent.head()
        await sent.push(head.join(''))
        await flood(sent, Buffer.from(content[0] as string), 300 * MIB)
      })
      const t = await gateway(transport)
      await count.run('51', `${nameOf(cell)}, 256 MiB`, async () => {
        const { path, body } = pathAndBody(cell.caller, `${cell.upstream}/m`, true)
        const response = await t.post(path, body)
        let tail = ''
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
          tail = Buffer.from(chunk.subarray(-1000)).toString()
        expect(tail).toMatch(/longer than the limit/)
        expect(transport.sent[0]?.pushed).toBeLessThanOrEqual(258 * MIB)
        await t.untilSettled()
        expect(t.settled[0]?.outcome.status).toBe(502)
      })
    }
  })

  it('30 minutes of stream end in the error frame, in every caller’s format', async () => {
    const clock = fakeClock()
    const transport = memoryTransport(async (sent) => {
      const upstream = sent.request.url.includes('/chat/')
        ? 'chat'
        : (DIALECTS.find((id) => sent.request.url.includes(PATHS[id])) ?? 'chat')
      const { head, content } = framesOf(upstream)
      sent.head()
      await sent.push(head.join('') + content[0])
    })
    const t = await gateway(transport, { ports: { clock }, env: { UPSTREAM_IDLE_TIMEOUT_MS: '0' } })
    for (const cell of cases) {
      await count.run('51', `${nameOf(cell)}, 30 min`, async () => {
        const settled = t.settled.length
        const { path, body } = pathAndBody(cell.caller, `${cell.upstream}/m`, true)
        const response = await t.post(path, body)
        const reading = response.text()
        await clock.advance('29m')
        expect(t.settled).toHaveLength(settled)
        await clock.advance('2m')
        expect(await reading).toMatch(/: ping[\s\S]*ran longer than the limit/)
        await t.untilSettled(settled + 1)
        expect(t.settled.at(-1)?.outcome.status).toBe(502)
        expect(transport.sent.at(-1)?.aborted).not.toBeNull()
      })
    }
  })
  const PATHS = { chat: '/chat/', messages: '/messages', responses: '/responses', generate_content: ':streamGenerateContent' }
})
