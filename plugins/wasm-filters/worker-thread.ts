// Starts the thread of a filter. It gets no environment, no input, and a heap that ends; its file is the built one, or from
// source, where Node 20 reads no TypeScript, goes through jiti.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { WorkerInit } from './protocol.ts'

export function startThread(init: WorkerInit): Worker {
  const options: WorkerOptions = {
    name: 'wasm-filter',
    workerData: init,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 },
  }
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./worker.js', import.meta.url), options)
  const jiti = createRequire(import.meta.url).resolve('jiti')
  const file = fileURLToPath(new URL('./worker.ts', import.meta.url))
  const code = `require(${JSON.stringify(jiti)}).createJiti(${JSON.stringify(file)}).import(${JSON.stringify(file)})`
  return new Worker(code, { ...options, eval: true })
}
