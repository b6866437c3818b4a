// A reader pauses an answer, and the upstream closes the connection in the meantime. An exception of undici would fail the run.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as later } from 'node:timers/promises'
import { fetch } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { guardedAgent } from '../../../adapters/transport/outbound-guard.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { wireRequest } from './support.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

const TEXT = 'a piece, '.repeat(30_000)
const FRAMINGS = {
  'a length': `content-length: ${TEXT.length}\r\n\r\n${TEXT}`,
  chunks: `transfer-encoding: chunked\r\n\r\n${TEXT.match(/.{500}/g)?.reduce((all, part) => `${all}1f4\r\n${part}\r\n`, '')}0\r\n\r\n`,
  'an end': `\r\n${TEXT}`,
}

/** Closes the connection while the reader waits. */
async function closing(framed: string, reset = false): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n${framed}`)
      setTimeout(() => (reset ? socket.resetAndDestroy() : socket.end()), 30)
    })
  }).listen(0, '127.0.0.1')
  open.push(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function readSlowly(port: number): Promise<{ text: string; ended: string; overlaps: number }> {
  const transport = undiciTransport()
  open.push(() => transport.close())
  return new Promise((resolve) => {
    let text = ''
    let waiting = false
    let overlaps = 0
    const done = (ended: string) => (): void => resolve({ text, ended, overlaps: waiting ? overlaps + 1 : overlaps })
    transport.send(wireRequest(`http://127.0.0.1:${port}/`), {
      head() {},
      async data(piece) {
        if (waiting) overlaps++
        waiting = true
        text += Buffer.from(piece).toString()
        await later(text.length > 2000 ? 1 : 60)
        waiting = false
      },
      end: done('end'),
      error: done('error'),
    })
  })
}

describe.each(Object.entries(FRAMINGS))('an answer with %s', (_, framed) => {
  it('is read to its end, one piece at a time', async () => {
    expect(await readSlowly(await closing(framed))).toEqual({ text: TEXT, ended: 'end', overlaps: 0 })
  })

  it('ends after a reset', async () => {
    const { text, ended } = await readSlowly(await closing(framed, true))
    expect(TEXT.startsWith(text)).toBe(true)
    expect(ended).toMatch(/end|error/)
  })

  it('is whole for a plugin that fetches and reads later', async () => {
    const port = await closing(framed)
    const agent = guardedAgent({
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      dial: () => ({ host: '127.0.0.1', port }),
    })
    open.push(() => agent.destroy())
    const answer = await fetch('http://upstream.example/', { dispatcher: agent })
    await later(100)
    expect(await answer.text()).toBe(TEXT)
  })
})

it('is an error where the answer lacks its last bytes', async () => {
  const { text, ended } = await readSlowly(await closing(`content-length: ${TEXT.length}\r\n\r\n${TEXT.slice(0, 9000)}`))
  expect(ended).toBe('error')
  expect(TEXT.startsWith(text)).toBe(true)
})
