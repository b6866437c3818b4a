// Starts the engine of a server in a process of its own, because flags of V8 are of the whole process, and says whether V8 optimizes.
// Arguments: `listens`, `takes-long` or `has-flags`.
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { startEngine } from '../../../adapters/cli/serve/engine.ts'

setFlagsFromString('--allow-natives-syntax')
const statusOf = new Function('fn', 'return %GetOptimizationStatus(fn)') as (fn: unknown) => number
/** `kOptimized` of V8's runtime. */
const OPTIMIZED = 1 << 4
/** Longer than a short start, ms. */
const LONG = 1000

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

const [mode] = process.argv.slice(2)
const seen: boolean[] = []
if (mode === 'has-flags') process.env.NODE_OPTIONS = '--no-opt'
const started = startEngine()
if (mode === 'listens') {
  // Fewer rounds, so that it takes less time than a short start.
  seen.push(await optimizes(5))
  started()
} else if (mode === 'takes-long') await sleep(LONG)
seen.push(await optimizes())
console.log(JSON.stringify(seen))
