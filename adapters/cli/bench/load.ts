// The load generator of `hookgate bench`: as many callers as connections, each sends its next request when the last is answered.
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici/index.js'

export interface Load {
  readonly requests: number
  readonly errors: number
  readonly seconds: number
  readonly p50_ms: number
  readonly p99_ms: number
}

const BODY = JSON.stringify({
  model: 'mock/bench-1',
  messages: [
    { role: 'system', content: 'You are a short and friendly assistant.' },
    { role: 'user', content: 'Say hello to the people who measure. '.repeat(4) },
  ],
})
const HEADERS = { 'content-type': 'application/json' }

/** @param onProgress gets the share of the time that is over and the answers so far. */
export async function load(
  url: string,
  { seconds, concurrency, onProgress }: { seconds: number; concurrency: number; onProgress(share: number, done: number): void },
): Promise<Load> {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 })
  const times: number[] = []
  let errors = 0
  const start = performance.now()
  const end = start + seconds * 1000
  const caller = async (): Promise<void> => {
    for (let began = start; began < end; began = performance.now()) {
      try {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path: '/v1/chat/completions',
          headers: HEADERS,
          body: BODY,
        })
        await body.dump()
        if (statusCode !== 200) errors++
      } catch {
        errors++
      }
      times.push(performance.now() - began)
    }
  }
  const ticking = setInterval(() => onProgress(Math.min(1, (performance.now() - start) / (seconds * 1000)), times.length), 100)
  try {
    await Promise.all(Array.from({ length: concurrency }, caller))
  } finally {
    clearInterval(ticking)
    await pool.destroy()
  }
  const took = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  return { requests: times.length, errors, seconds: took, p50_ms: quantile(times, 0.5), p99_ms: quantile(times, 0.99) }
}

/** @param sorted ascending. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
