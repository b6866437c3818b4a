// `provider.outage`.
import { afterEach, expect, it } from 'vitest'
import { fail, reset, text } from '../../../adapters/testing/script.ts'
import { type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

const settings = { breaker: { failure_threshold: 1000 } }
const outages = () => w.told.filter(({ type }) => type === 'provider.outage').map(({ data }) => data)
const times = async (count: number) => {
  for (let i = 0; i < count; i++) await w.status()
}

it('five failures within a minute are minor; one that becomes major meanwhile is the same outage, told once in ten minutes', async () => {
  w = await world({ accounts: [{ script: [fail(500), reset(), fail(503)] }], config: { settings } })
  const began = new Date(w.clock.now()).toISOString()
  await times(4)
  expect(outages()).toEqual([])
  await w.clock.advance('10s')
  await times(5)
  const minor = {
    provider: 'p',
    severity: 'minor',
    error_count: 5,
    window_seconds: 60,
    dedup_key: 'p:minor',
    first_error_at: began,
    last_error_at: new Date(w.clock.now()).toISOString(),
  }
  expect(outages()).toEqual([minor])
  await times(20)
  expect(outages()).toEqual([minor])
  await w.clock.advance('570s')
  await times(20)
  expect(outages()).toEqual([minor])
  // The failures of the last minute and this one: it is major now.
  await w.clock.advance('29s')
  await times(4)
  await w.clock.advance('1s')
  await times(1)
  expect(outages()).toEqual([minor, expect.objectContaining({ severity: 'major', error_count: 25, dedup_key: 'p:major' })])
})

it('counts neither 4xx nor successes, and forgets after a minute', async () => {
  w = await world({ accounts: [{ script: [fail(500)] }], config: { settings } })
  await times(4)
  await w.clock.advance('61s')
  await times(4)
  w.accounts[0]?.script(fail(400), fail(404), fail(403), fail(429), text('ok'))
  for (const model of ['a', 'b', 'c', 'd', 'e']) await w.status(model)
  expect(outages()).toEqual([])
  w.accounts[0]?.script(fail(500))
  await w.status('e')
  expect(outages()).toMatchObject([{ error_count: 5 }])
})
