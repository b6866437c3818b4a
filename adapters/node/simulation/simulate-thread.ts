// The port that runs simulations: each in a thread of its own, which ends with it or after a limit.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { systemClock } from '../../../core/timing/clock.ts'
import type { SimulationInput, SimulationOutcome, Simulator } from '../../../core/types/ports/simulation.ts'

/** Longest run of one simulation, ms. */
const RUN_MS = 5000
/** Longest start of the thread, in which it loads the gateway and the configuration file, ms. */
const START_MS = 30_000

export interface SimulationJob extends SimulationInput {
  /** null: without a file, defaults apply. */
  readonly configPath: string | null
}

/** `started`: the configuration is loaded. */
export type SimulationMessage = 'started' | SimulationOutcome

/** @param runMs for tests. */
export function simulator(
  configPath: string | null,
  env: Readonly<Record<string, string | undefined>>,
  runMs = RUN_MS,
): Simulator {
  return (input) =>
    new Promise((resolve) => {
      const job: SimulationJob = { ...input, configPath }
      const thread = startThread({
        name: 'simulate',
        workerData: job,
        env: { ...env } as NodeJS.Dict<string>,
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: 512 },
      })
      thread.unref()
      const finish = (outcome: SimulationOutcome): void => {
        timer.cancel()
        resolve(outcome)
        void thread.terminate()
      }
      const late = (what: string, ms: number) => () =>
        finish({ fault: 'time', message: `${what} takes longer than ${ms / 1000} s.` })
      let timer = systemClock.timer(START_MS, late('The start of the simulation', START_MS), true)
      thread.on('message', (message: SimulationMessage) => {
        if (message !== 'started') return finish(message)
        timer.cancel()
        timer = systemClock.timer(runMs, late('The simulation', runMs), true)
      })
      thread.on('error', (error) => finish({ fault: 'configuration', message: String((error as Error).message) }))
      thread.on('exit', () => finish({ fault: 'configuration', message: 'The simulation ended without a result.' }))
    })
}

// The file of the thread is the built one; from source it is loaded by jiti, because Node 20 reads no TypeScript.
function startThread(options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./simulate-worker.js', import.meta.url), options)
  const jiti = createRequire(import.meta.url).resolve('jiti')
  const file = fileURLToPath(import.meta.url.replace(/thread\.ts$/, 'worker.ts'))
  const code = `require(${JSON.stringify(jiti)}).createJiti(${JSON.stringify(file)}).import(${JSON.stringify(file)})`
  return new Worker(code, { ...options, eval: true })
}
