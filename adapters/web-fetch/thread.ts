// Runs conversions in one thread, one after the other. A page that takes too long ends the thread; the next page starts another.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../core/timing/clock.ts'
import type { Converted, ConvertRequest } from './convert.ts'

/** ms that one page may take. */
const LIMIT_MS = 5000

interface Job {
  readonly id: number
  readonly request: ConvertRequest
  /** null: the page could not be converted. */
  resolve(converted: Converted | null): void
}

export function converter(limitMs = LIMIT_MS): (request: ConvertRequest) => Promise<Converted | null> {
  const waiting: Job[] = []
  let worker: Worker | null = null
  let running: Job | null = null
  let ids = 0

  function next(): void {
    const job = running === null ? waiting.shift() : undefined
    if (job === undefined) return
    running = job
    worker ??= started()
    const timer = systemClock.timer(limitMs, stop, true)
    const { resolve } = job
    running = {
      ...job,
      resolve(converted) {
        timer.cancel()
        running = null
        resolve(converted)
        next()
      },
    }
    worker.postMessage({ id: job.id, request: job.request })
  }

  function stop(): void {
    const ended = worker
    worker = null
    running?.resolve(null)
    void ended?.terminate()
  }

  function started(): Worker {
    const made = startThread()
    made.unref()
    made.on('message', ({ id, converted }: { id: number; converted: Converted | null }) => {
      if (running?.id === id) running.resolve(converted)
    })
    const gone = (): void => {
      if (worker === made) stop()
    }
    made.on('error', gone)
    made.on('exit', gone)
    return made
  }

  return (request) =>
    new Promise((resolve) => {
      waiting.push({ id: ++ids, request, resolve })
      next()
    })
}

// The thread gets no environment and a limited heap. Its file is the built one; from source it is loaded by jiti, because Node 20 reads no
// TypeScript.
function startThread(): Worker {
  const options = {
    name: 'web-fetch',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
  }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./worker.js', import.meta.url), options)
  const jiti = createRequire(import.meta.url).resolve('jiti')
  const file = fileURLToPath(import.meta.url.replace(/thread\.ts$/, 'worker.ts'))
  const code = `require(${JSON.stringify(jiti)}).createJiti(${JSON.stringify(file)}).import(${JSON.stringify(file)})`
  return new Worker(code, { ...options, eval: true })
}
