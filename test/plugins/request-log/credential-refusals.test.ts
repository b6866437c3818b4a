// A flood of wrong credentials: a sample is logged, all are counted, and callers with a key are logged as usual.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { newSecret } from '../../../plugins/keys/secret.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, loggingGateway, logs } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

it('fills 60 rows of the log in a minute, whatever the form of the credential', async () => {
  const clock = fakeClock()
  t = await loggingGateway({ ports: { clock }, env: { REQUIRE_API_KEY: 'true' } })
  const { key } = await makeKey(t, { label: 'ci' })
  const flood = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) {
      for (const headers of [bearer(newSecret()), bearer('sk-something'), {}])
        expect((await t.post('/v1/chat/completions', ask('chat/m'), headers)).status).toBe(401)
    }
  }
  const rows = async (query: string): Promise<number> => (await logs(t, `?limit=200&${query}`)).data.length
  await flood()
  expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(key))).status).toBe(200)
  expect([await rows('status=401'), await rows('status=200')]).toEqual([60, 1])
  await clock.advance(60_000)
  await flood()
  expect(await rows('status=401')).toBe(120)
  const exposition = await (await t.fetch('/metrics', { headers: bearer(key) })).text()
  expect(exposition).toContain('gateway_request_log_refused_credentials_total{logged="true"} 120')
  expect(exposition).toContain('gateway_request_log_refused_credentials_total{logged="false"} 180')
})
