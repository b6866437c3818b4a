// An action is taken back when shadow evaluation finds the preferred model worse.
import { expect, it } from 'vitest'
import { qualityOf, regression } from '../../../plugins/advisor/actions/measure.ts'

const steady = { requests: 100, errorRate: 0, p95Ms: 100, costPerRequestUsd: 0.001 }

it.each([
  [0.79, 'quality'],
  [0.8, null],
  [null, null],
])('a score of %s means %s', (quality, reason) => {
  expect(regression('switch_model', steady, steady, quality)).toBe(reason)
  expect(regression('switch_model', steady, { ...steady, requests: 19 }, quality)).toBe(null)
})

it('is the score of the first target that gets requests, from ten samples on', async () => {
  const shadow = (samples: number) => ({ scores: async () => new Map([['p/cheap', { samples, score: 0.7 }]]) }) as never
  const target = (name: string, weight: number) => ({
    ...{ target: name, weight, connection_id: null, enabled: true, instruction: null, params: null },
  })
  const params = { id: 1, name: 'coder', targets: [target('p/dear', 0), target('p/cheap', 1)] }
  const action = { kind: 'switch_model' as const, orgId: null, action: { type: 'update_virtual_model' as const, params } }
  expect(await qualityOf(shadow(10), action, 0)).toBe(0.7)
  expect(await qualityOf(shadow(9), action, 0)).toBe(null)
  expect(await qualityOf(undefined, action, 0)).toBe(null)
  expect(await qualityOf(shadow(10), { ...action, kind: 'demote_target' }, 0)).toBe(null)
})
