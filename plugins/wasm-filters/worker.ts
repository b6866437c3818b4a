// The thread of a filter. It runs only the guest, and is terminated from outside when the guest does not stop.
import { parentPort, workerData } from 'node:worker_threads'
import { type Guest, openGuest } from './guest.ts'
import { type CallMessage, sharedTime, type WorkerInit, type WorkerMessage } from './protocol.ts'

const { wasm, config, progress } = workerData as WorkerInit
const say = (message: WorkerMessage): void => parentPort?.postMessage(message)

function timed<T>(run: () => T): { value: T; ms: number } {
  const start = sharedTime()
  progress[0] = start
  try {
    const value = run()
    return { value, ms: sharedTime() - start }
  } finally {
    progress[0] = 0
  }
}

try {
  const guest: Guest = timed(() => openGuest(wasm, config)).value
  parentPort?.on('message', ({ name, input, now }: CallMessage) => {
    const { value, ms } = timed(() => guest.call(name, input, now))
    say({ kind: 'reply', ms, ...value })
  })
  say({ kind: 'ready', exports: guest.exports })
} catch (error) {
  say({ kind: 'refused', message: error instanceof Error ? error.message : String(error) })
}
