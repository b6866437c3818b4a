// Runs one worker thread with one guest: one call at a time. It terminates the thread when the guest exceeds its time, and starts another
// for waiting calls. It measures the guest's own time, not its wait for the CPU.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { systemClock } from '../../core/timing/clock.ts'
import type { Timer } from '../../core/types/ports/ports.ts'
import { FilterFailure } from './failure.ts'
import type { GuestReply } from './guest.ts'
import { MAX_QUEUE } from './limits.ts'
import { type CallMessage, createProgress, type Progress, sharedTime, type WorkerInit, type WorkerMessage } from './protocol.ts'

export interface CageInit {
  readonly wasm: Uint8Array<ArrayBuffer>
  readonly config: Readonly<Record<string, string>>
  /** ms for compiling and initialising. */
  readonly initMs: number
  /** ms that a call may wait for its turn. */
  readonly queueMs: number
  readonly time?: SandboxTime
}

/** Real time by default: the thread runs in real time, whatever the gateway's clock shows. */
export interface SandboxTime {
  timer(ms: number, fn: () => void): Timer
  /** Monotonic ms, the same in all threads. */
  now(): number
}

export type CageReply = GuestReply & { readonly ms: number }

/** For calls that only the same guest may answer. null: no guest yet; the first one is recorded. */
export interface GuestBond {
  generation: number | null
}

interface Job {
  readonly message: CallMessage
  readonly limitMs: number
  readonly bond: GuestBond | null
  readonly waiting: Timer
  resolve(reply: CageReply): void
  reject(failure: Error): void
}

/** Timeout of a thread that has not entered its guest: the machine is busy, not the guest. */
const UNHEARD_MS = 10_000

const REAL: SandboxTime = { timer: systemClock.timer, now: sharedTime }

// Starts the thread of a filter. It gets no environment, no input, and a limited heap. Its file is the built one; from source it is
// loaded by jiti, because Node 20 reads no TypeScript.
function startThread(init: WorkerInit): Worker {
  const options: WorkerOptions = {
    name: 'wasm-filter',
    workerData: init,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 },
  }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./worker.js', import.meta.url), options)
  const jiti = createRequire(import.meta.url).resolve('jiti')
  // Not a literal path: bundlers would look for the source in the built package.
  const file = fileURLToPath(import.meta.url.replace(/sandbox\.ts$/, 'worker.ts'))
  const code = `require(${JSON.stringify(jiti)}).createJiti(${JSON.stringify(file)}).import(${JSON.stringify(file)})`
  return new Worker(code, { ...options, eval: true })
}

export class Sandbox {
  /** Another number means another guest, without the state of the previous one. */
  generation = 0
  readonly #init: CageInit
  readonly #time: SandboxTime
  readonly #queue: Job[] = []
  #worker: Worker | null = null
  #progress: Progress = createProgress()
  #ready = false
  #running: Job | null = null
  #watch: Timer | null = null
  #opening: { resolve(exports: readonly string[]): void; reject(error: Error): void } | null = null
  #closed = false

  constructor(init: CageInit) {
    this.#init = init
    this.#time = init.time ?? REAL
  }

  get pending(): number {
    return this.#queue.length + (this.#running === null ? 0 : 1)
  }

  /** Starts the thread. @returns the guest's exports. @throws Error with the reason why the module is unusable. */
  open(): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
      this.#start()
    })
  }

  /** Rejects with a FilterFailure when there is no reply; the guest's own failure is in the reply. */
  call(message: CallMessage, limitMs: number, bond: GuestBond | null = null): Promise<CageReply> {
    if (this.#closed) return Promise.reject(new FilterFailure('trap', 'The gateway is closing.'))
    if (this.#queue.length >= MAX_QUEUE) return Promise.reject(new FilterFailure('busy', 'Too many calls wait for the filter.'))
    return new Promise((resolve, reject) => {
      const waiting = this.#time.timer(this.#init.queueMs, () => {
        const at = this.#queue.indexOf(job)
        if (at === -1) return
        this.#queue.splice(at, 1)
        reject(new FilterFailure('busy', `The filter was not free within ${this.#init.queueMs} ms.`))
      })
      const job: Job = { message, limitMs, bond, waiting, resolve, reject }
      this.#queue.push(job)
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#end(new FilterFailure('trap', 'The gateway is closing.'), true)
  }

  #next(): void {
    if (this.#running !== null || this.#queue.length === 0) return
    if (this.#worker === null) return this.#start()
    if (!this.#ready) return
    const job = this.#queue.shift() as Job
    job.waiting.cancel()
    const { bond } = job
    if (bond !== null) {
      bond.generation ??= this.generation
      if (bond.generation !== this.generation) {
        job.reject(new FilterFailure('state_lost', 'The guest that knew of this request was ended.'))
        return this.#next()
      }
    }
    this.#running = job
    this.#worker.postMessage(job.message)
    this.#limit(job.limitMs, `It ran for more than ${job.limitMs} ms.`)
  }

  #start(): void {
    const progress = createProgress()
    const { wasm, config, initMs } = this.#init
    const worker = startThread({ wasm, config, progress })
    this.#worker = worker
    this.#progress = progress
    this.#ready = false
    worker.unref()
    // A terminated thread may have sent a message before.
    const current = (fn: () => void) => (): void => {
      if (this.#worker === worker) fn()
    }
    worker.on('message', (message: WorkerMessage) => current(() => this.#heard(message))())
    worker.on('error', (error) => current(() => this.#end(new FilterFailure('memory', `Its thread died: ${error.message}`)))())
    worker.on(
      'exit',
      current(() => this.#end(new FilterFailure('trap', 'Its thread ended.'))),
    )
    this.#limit(initMs, `It took more than ${initMs} ms to begin.`)
  }

  #heard(message: WorkerMessage): void {
    this.#watch?.cancel()
    if (message.kind === 'refused') return void this.#end(new FilterFailure('trap', message.message), true)
    if (message.kind === 'ready') {
      this.#ready = true
      this.#opening?.resolve(message.exports)
      this.#opening = null
      return this.#next()
    }
    const job = this.#running
    this.#running = null
    if (message.renewed) this.generation++
    job?.resolve(message)
    this.#next()
  }

  /** Checks until the guest has used its time; waits for a guest that has finished. */
  #limit(limitMs: number, why: string): void {
    this.#watch?.cancel()
    const since = this.#time.now()
    const look = (): void => {
      const entered = this.#progress[0] as number
      const now = this.#time.now()
      const left = entered === 0 ? UNHEARD_MS - (now - since) : limitMs - (now - entered)
      if (left <= 0) void this.#end(new FilterFailure('timeout', why))
      else this.#watch = this.#time.timer(Math.max(1, Math.min(left, limitMs)), look)
    }
    this.#watch = this.#time.timer(limitMs, look)
  }

  /** Terminates the thread and its call. Waiting calls get another thread, unless `all` must end. */
  async #end(failure: FilterFailure, all = false): Promise<void> {
    const worker = this.#worker
    const failed = this.#running === null ? [] : [this.#running]
    const began = this.#ready
    this.#watch?.cancel()
    this.#worker = null
    this.#ready = false
    this.#running = null
    this.generation++
    // A guest that fails to start would fail for the other calls too.
    if (all || !began) failed.push(...this.#queue.splice(0))
    for (const job of failed) {
      job.waiting.cancel()
      job.reject(failure)
    }
    this.#opening?.reject(failure)
    this.#opening = null
    this.#next()
    await worker?.terminate()
  }
}
