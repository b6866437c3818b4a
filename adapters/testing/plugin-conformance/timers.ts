// Tests that no timer of a plugin outlives its gateway.
import assert from 'node:assert/strict'
import type { ContractCase } from '../contracts/contract.ts'
import type { Run } from './run.ts'

type Handle = NodeJS.Timeout & { readonly _destroyed?: boolean }
type Timers = Pick<typeof globalThis, 'setTimeout' | 'setInterval'>

/** @param run runs a gateway with the plugin; @param bare the same without it, to learn which timers are the gateway's own */
export function timerCase(run: Run, bare: Run): ContractCase {
  return {
    name: 'no timer outlives the gateway',
    async run() {
      const own = new Set((await timersAfter(bare)).map(siteOf))
      const left = (await timersAfter(run)).filter((stack) => !own.has(siteOf(stack)))
      assert.deepEqual(
        left.map(siteOf),
        [],
        'a timer outlives the gateway. Use gateway.every(), or clear it in the function that setup returns',
      )
    },
  }
}

/** Returns the stacks that made the timers which still run when the gateway is closed. */
async function timersAfter(run: Run): Promise<string[]> {
  const made: { handle: Handle; stack: string; repeats: boolean; done: boolean }[] = []
  const real: Timers = { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval }
  const recording = (name: keyof Timers) =>
    Object.assign((fn: (...args: unknown[]) => void, ...rest: unknown[]) => {
      const entry = {
        handle: null as unknown as Handle,
        stack: new Error('timer').stack ?? '',
        repeats: name === 'setInterval',
        done: false,
      }
      const ran = (...args: unknown[]): void => {
        entry.done = !entry.repeats
        fn(...args)
      }
      entry.handle = (real[name] as (...args: unknown[]) => Handle)(ran, ...rest)
      made.push(entry)
      return entry.handle
    }, real[name])
  Object.assign(globalThis, { setTimeout: recording('setTimeout'), setInterval: recording('setInterval') })
  try {
    await run(async (t) => void (await t.fetch('/healthz')))
  } finally {
    Object.assign(globalThis, real)
  }
  return made.filter(({ handle, done }) => !done && handle._destroyed === false).map(({ stack }) => stack)
}

/** The place in the code that made the timer. */
function siteOf(stack: string): string {
  return stack.split('\n')[2]?.trim() ?? stack
}
