// A server starts without optimized code, and has all of V8 when it listens.
import { setFlagsFromString } from 'node:v8'
import { expect, it } from 'vitest'
import { startEngine } from '../../../adapters/cli/serve/engine.ts'

setFlagsFromString('--allow-natives-syntax')
const statusOf = new Function('fn', 'return %GetOptimizationStatus(fn)') as (fn: unknown) => number
/** `kOptimized` of V8's runtime. */
const OPTIMIZED = 1 << 4

let functions = 0

/** Returns whether V8 optimizes a function of many calls. */
async function optimizes(rounds = 50): Promise<boolean> {
  // V8 keeps the optimized code of a text that it has seen before.
  const text = `let sum = ${functions++}; for (let i = 0; i < 1000; i++) sum += list[i % 3] ^ i; return sum`
  const fn = new Function('list', text)
  for (let round = 0; round < rounds; round++) {
    for (let call = 0; call < 1000; call++) fn([1, 2, 3])
    if ((statusOf(fn) & OPTIMIZED) !== 0) return true
    await new Promise(setImmediate)
  }
  return false
}

// It would contain the function that it calls.
new Function('fn', '%NeverOptimizeFunction(fn)')(optimizes)

it('optimizes again when the server listens', async () => {
  const started = startEngine()
  // Not longer than a short start.
  expect(await optimizes(5)).toBe(false)
  started()
  expect(await optimizes()).toBe(true)
})

it('optimizes again when the start takes long', async () => {
  const started = startEngine()
  await expect.poll(() => optimizes(), { timeout: 10_000 }).toBe(true)
  started()
})

it('leaves flags of the operator alone', async () => {
  const before = process.env.NODE_OPTIONS
  process.env.NODE_OPTIONS = `${before ?? ''} --no-opt`
  const started = startEngine()
  process.env.NODE_OPTIONS = before ?? ''
  expect(await optimizes()).toBe(true)
  started()
})
