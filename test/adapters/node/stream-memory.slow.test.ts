// An open stream holds one copy of its request's body, however long it runs and whatever dialect the caller speaks.
import { expect, it } from 'vitest'
import { outputOf, runTs } from '../../support/run-ts.ts'
import { DIALECTS } from './support.ts'

const BODY_BYTES = 200_000

it('an open stream holds one copy of its body, for callers of each dialect', async () => {
  const held = JSON.parse(await outputOf(runTs('stream-holder.ts', String(BODY_BYTES)))) as Record<string, number>
  expect(Object.keys(held)).toEqual([...DIALECTS])
  for (const [dialect, bytes] of Object.entries(held)) {
    expect(bytes, dialect).toBeGreaterThan(0.9 * BODY_BYTES)
    expect(bytes, dialect).toBeLessThan(1.3 * BODY_BYTES)
  }
})
