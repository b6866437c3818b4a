// A server starts without optimized code, and has all of V8 when it listens.
import { expect, it } from 'vitest'
import { outputOf, runTs } from '../../support/run-ts.ts'

it.each([
  ['optimizes again when the server listens', 'listens', [false, true]],
  ['optimizes again when the start takes long', 'takes-long', [true]],
  ['leaves flags of the operator alone', 'has-flags', [true]],
])('%s', async (_, mode, optimized) => {
  expect(JSON.parse(await outputOf(runTs('engine.ts', mode)))).toEqual(optimized)
})
