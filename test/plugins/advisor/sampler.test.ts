import { expect, it } from 'vitest'
import { Sampler } from '../../../plugins/advisor/sampler.ts'

const body = (id: number, bytes: number): Uint8Array => {
  const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `${id} ` }] })
  return Buffer.from(text.replace(' "', ` ${'x'.repeat(Math.max(bytes - text.length, 0))}"`))
}

it('a body above 512 KiB is in no sample, and takes nothing from the sample of the others', () => {
  const sampler = new Sampler()
  const large = body(0, 524_400)
  for (let count = 0; count < 200; count++) expect(sampler.weight(large, 5000)).toBe(0)
  expect(sampler.weight(body(1, 100), 5000)).toBe(1)
  expect(sampler.weight(body(2, 524_000), 5000)).toBe(1)
})

it('thins with traffic, so that the weights still add up, and grows again in quiet seconds', () => {
  const sampler = new Sampler()
  let looked = 0
  let stoodFor = 0
  for (let id = 0; id < 20_000; id++) {
    const weight = sampler.weight(body(id, 100 + (id % 300)), 5000 + Math.floor(id / 1000) * 1000)
    if (weight > 0) looked++
    stoodFor += weight
  }
  expect(looked).toBeLessThan(20 * 200)
  expect(stoodFor).toBeGreaterThan(8000)
  expect(stoodFor).toBeLessThan(40_000)
  for (let second = 30; second < 60; second++) sampler.weight(body(second, 100), second * 1000)
  expect(sampler.weight(body(1, 100), 61_000)).toBe(1)
})

it('takes as many a second as the option says, and none with 0', () => {
  const looked = (most: number): number => {
    const sampler = new Sampler(most)
    let count = 0
    for (let id = 0; id < 1000; id++) if (sampler.weight(body(id, 100), 5000) > 0) count++
    return count
  }
  expect(looked(0)).toBe(0)
  expect(looked(5)).toBeLessThan(100)
  expect(looked(1000)).toBeGreaterThan(900)
})
