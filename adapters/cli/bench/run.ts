// Runs a benchmark: starts the processes, warms up, measures the bare proxy and the gateway in turn, and ends the processes.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChildJob, ChildMessage } from './child.ts'
import { type Load, load } from './load.ts'

export interface Figures {
  readonly requests: number
  readonly errors: number
  readonly requests_per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly cpu_us_per_request: number
}

export interface BenchReport {
  readonly seconds: number
  readonly concurrency: number
  readonly upstream: 'built-in mock'
  readonly gateway: Figures
  readonly bare_proxy: Figures
  /** CPU time of the gateway for a request, divided by that of the bare proxy. */
  readonly ratio: number
  /** The ratio that this gateway aims at, with the whole preset (docs/performance.md). */
  readonly ratio_goal: number
}

export interface BenchOptions {
  readonly seconds: number
  readonly concurrency: number
  /** Gets the share of the whole run, and the requests a second of the part that runs. */
  onProgress(share: number, rate: number): void
}

interface Child {
  readonly url: string
  cpuUs(): Promise<number>
}

/** For the whole preset, as docs/performance.md states it. */
const RATIO_GOAL = 2.2
/** Longest warm-up, seconds: the compiler has the hot paths by then. */
const WARM_UP = 2
/** As `npm start` and `hookgate serve` set them. */
const NODE_FLAGS = ['--no-allocation-site-pretenuring', '--max-semi-space-size=64']

/** @throws Error when a process ends early. */
export async function bench({ seconds, concurrency, onProgress }: BenchOptions): Promise<BenchReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hookgate-bench-'))
  const children: ChildProcess[] = []
  const start = (role: ChildJob['role'], upstream = '') => started(children, { role, upstream, dataDir })
  try {
    const upstream = await start('upstream')
    const [proxy, gateway] = await Promise.all([start('proxy', upstream.url), start('gateway', upstream.url)])
    const warm = Math.min(WARM_UP, seconds)
    let over = 0
    const part = async (child: Child, length: number): Promise<Load> => {
      const whole = 2 * (warm + seconds)
      const begin = performance.now()
      const result = await load(child.url, {
        seconds: length,
        concurrency,
        onProgress: (share, done) => onProgress((over + share * length) / whole, (done * 1000) / (performance.now() - begin)),
      })
      over += length
      return result
    }
    const measured = async (child: Child): Promise<Figures> => {
      await part(child, warm)
      const before = await child.cpuUs()
      const result = await part(child, seconds)
      return figuresOf(result, (await child.cpuUs()) - before)
    }
    const bare = await measured(proxy)
    const ours = await measured(gateway)
    const ratio = rounded(ours.cpu_us_per_request / bare.cpu_us_per_request)
    return { seconds, concurrency, upstream: 'built-in mock', gateway: ours, bare_proxy: bare, ratio, ratio_goal: RATIO_GOAL }
  } finally {
    await Promise.all(children.map(ended))
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 })
  }
}

function figuresOf({ requests, errors, seconds, p50_ms, p99_ms }: Load, cpuUs: number): Figures {
  return {
    requests,
    errors,
    requests_per_second: Math.round(requests / seconds),
    p50_ms: rounded(p50_ms),
    p99_ms: rounded(p99_ms),
    cpu_us_per_request: rounded(cpuUs / Math.max(1, requests)),
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

async function started(children: ChildProcess[], job: ChildJob): Promise<Child> {
  // From source the file has another ending; only the built one can be a process of its own.
  const file = fileURLToPath(new URL('./child.js', import.meta.url))
  const child = fork(file, {
    execArgv: NODE_FLAGS,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  children.push(child)
  child.send(job)
  const answer = async (): Promise<ChildMessage> => {
    const early = once(child, 'exit').then(([code]) => {
      throw new Error(`The process of the ${job.role} ended with ${code}.`)
    })
    early.catch(() => {})
    const [message] = (await Promise.race([once(child, 'message'), early])) as [ChildMessage]
    return message
  }
  const first = await answer()
  if (!('port' in first)) throw new Error(`The process of the ${job.role} gave no port.`)
  return {
    url: `http://127.0.0.1:${first.port}`,
    async cpuUs() {
      const reply = answer()
      child.send('cpu')
      const message = await reply
      return 'cpuUs' in message ? message.cpuUs : 0
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}
