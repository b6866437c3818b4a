// How long new connections wait in the kernel's queue.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { acceptQueue } from '../../../adapters/node/server/accept-queue.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { systemClock } from '../../../core/timing/clock.ts'

it('stands from the first of the turns in a row that bring a connection, until a turn brings none', async () => {
  let now = 0
  const queue = acceptQueue({ ...fakeClock(), monotonic: () => now })
  expect(queue.standingMs()).toBe(0)
  for (let turn = 0; turn < 5; turn++) {
    expect(queue.standingMs()).toBe(turn * 10)
    queue.opened()
    now += 10
    await nextTurn()
  }
  await nextTurn()
  await nextTurn()
  expect(queue.standingMs()).toBe(0)
  queue.opened()
  now += 30
  expect(queue.standingMs()).toBe(30)
})

it('a server with more connections than turns sees it stand, and sees it empty again', async () => {
  const queue = acceptQueue(systemClock)
  const server = createServer((socket) => {
    queue.opened()
    longest = Math.max(longest, queue.standingMs())
    const until = performance.now() + 2
    while (performance.now() < until);
    socket.end()
  })
  let longest = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 512, resolve))
  const { port } = server.address() as AddressInfo
  const closed = Array.from({ length: 100 }, () => {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.resume()
    return new Promise((resolve) => socket.once('close', resolve))
  })
  await Promise.all(closed)
  expect(longest).toBeGreaterThan(100)
  await nextTurn()
  await nextTurn()
  expect(queue.standingMs()).toBe(0)
  server.close()
})
