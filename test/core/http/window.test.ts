// A window that ends before it begins is an error, reported by every route with a window.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway()
})
afterAll(() => t.close())

const [EARLY, LATE] = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z']

it.each(['/api/logs', '/api/audit', '/api/savings'])('%s names `until` when it is not later than `since`', async (path) => {
  const asked = async (since: string, until: string) => {
    const response = await t.fetch(`${path}?since=${since}&until=${until}`)
    const { error } = (await response.json()) as { error?: { param: string; message: string } }
    return [response.status, error?.param, error?.message]
  }
  const wrong = [400, 'until', '`until`: must be later than `since`']
  expect(await asked(LATE, EARLY)).toEqual(wrong)
  expect(await asked(LATE, LATE)).toEqual(wrong)
  expect(await asked(EARLY, LATE)).toEqual([200, undefined, undefined])
})

it.each(['/api/usage', '/api/reports', '/api/usage/timeseries'])('%s too, in days', async (path) => {
  const response = await t.fetch(`${path}?since=2026-11-02&until=2026-11-01`)
  expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([400, 'until'])
})
