// Requests of one turn of the event loop start together after its last read; their answers end and leave together.
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, collect, openSocket, rawHttp, until } from './support.ts'

const JSON_BODY = JSON.stringify(ask('chat', 'chat/m').body)
const STREAM_BODY = JSON.stringify(ask('chat', 'chat/m', { stream: true }).body)
const request = (body: string, sent = body, close = false) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n${close ? 'connection: close\r\n' : ''}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${sent}`

let t: TestGateway
let port: number
beforeEach(async () => {
  t = await createTestGateway()
  ;({ port } = await t.listen())
})
afterEach(() => t.close())

/** All sockets write before the gateway, which runs in the same process, can read. */
async function together(texts: readonly string[]): Promise<Socket[]> {
  const sockets = []
  for (let i = 0; i < texts.length; i++) sockets.push(await openSocket(port))
  for (const [i, socket] of sockets.entries()) socket.write(texts[i] as string)
  return sockets
}

describe('requests that arrive in one turn', () => {
  it('get their own answers', async () => {
    const sockets = await together(Array.from({ length: 20 }, (_, i) => request(i % 2 === 0 ? JSON_BODY : STREAM_BODY)))
    const answers = sockets.map(collect)
    await until(() => answers.every((text) => /"finish_reason":"stop"/.test(text())))
    for (const [i, text] of answers.entries()) {
      expect(text()).toMatch(/^HTTP\/1\.1 200 OK/)
      expect(text()).toMatch(i % 2 === 0 ? /content-type: application\/json/ : /content-type: text\/event-stream/)
    }
    expect(t.upstream.requests).toHaveLength(20)
    for (const socket of sockets) socket.destroy()
  })

  const LEAVES = {
    reset: (socket: Socket) => socket.resetAndDestroy(),
    close: (socket: Socket) => socket.destroy(),
    end: (socket: Socket) => socket.resume().end(),
  }
  it.each(
    Object.entries(LEAVES).flatMap(([how, leave]) => [
      { how, leave, when: 'a whole body', sent: JSON_BODY },
      { how, leave, when: 'a part of the body', sent: JSON_BODY.slice(0, 20) },
      { how, leave, when: 'the head', sent: '' },
    ]),
  )('leave nothing behind when their clients $how the connection at once after $when', async ({ leave, sent }) => {
    const sockets = await together(Array.from({ length: 20 }, () => request(JSON_BODY, sent)))
    for (const socket of sockets) leave(socket)
    expect(await rawHttp(port, request(JSON_BODY, JSON_BODY, true))).toMatch(/^HTTP\/1\.1 200 OK/)
    // The drain waits for every request that still runs. Closing the test gateway fails when one was not settled.
    const before = performance.now()
    await t.gateway.drain(20_000)
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})
