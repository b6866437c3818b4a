import { expect, it } from 'vitest'
import { Sampler } from '../../../plugins/advisor/sampler.ts'

it('leaves out bodies that are too long to parse in one turn of the event loop', () => {
  const sampler = new Sampler()
  expect([sampler.weight(new Uint8Array(512 * 1024), 0), sampler.weight(new Uint8Array(512 * 1024 + 1), 0)]).toEqual([1, 0])
})
