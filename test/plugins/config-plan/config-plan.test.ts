// GET /api/config/plan: what the file would change, and the fact that it differs.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'

let t: TestGateway
afterEach(() => t.close())

const connections = {
  main: { provider: 'custom', baseUrl: 'https://api.example.com/v1', wireFormat: 'chat', apiKey: 'sk-plan-canary-1234' },
} as const
const plan = async () => (await t.fetch('/api/config/plan')).json()

it('is empty in step; a row that was changed behind the file is shown, without secrets, and needs attention', async () => {
  const clock = fakeClock()
  t = await createTestGateway({ config: { connections }, ports: { clock } })
  expect(await plan()).toEqual({ format: 1, data: [] })
  await t.gateway.db?.run(sql`UPDATE connections SET archived_at = 1 WHERE config_key = 'main'`)
  await t.gateway.db?.run(sql`UPDATE connections SET declared = '{"provider":"custom"}' WHERE config_key = 'main'`)
  const found = await plan()
  expect(found).toMatchObject({ format: 1, data: [{ section: 'connections', key: 'main', action: 'revive' }] })
  expect(found).toEqual({ format: 1, data: await t.gateway.plan() })
  expect(JSON.stringify(found)).not.toContain('sk-plan-canary')
  const { data } = (await (await t.fetch('/api/attention')).json()) as { data: { kind: string }[] }
  expect(data).toMatchObject([{ kind: 'plan_drift', severity: 'warning' }])
})

it('is for the role system only', async () => {
  t = await createTestGateway()
  const asked = async (role: 'member' | 'manage' | 'system') => {
    const operator = { actor: 'test', orgId: null, role, readOnly: false, auth: 'host' } as const
    const request = new Request('http://gateway.test/api/config/plan')
    return (await t.gateway.control.fetch(request, { address: null, local: true, secure: true, operator })).status
  }
  expect([await asked('member'), await asked('manage'), await asked('system')]).toEqual([403, 403, 200])
})

it('answers 409 with the reason when the database refuses a change', async () => {
  t = await createTestGateway({ config: { connections } })
  await t.gateway.db?.run(sql`UPDATE connections SET declared = '[]' WHERE config_key = 'main'`)
  const trigger = `CREATE TRIGGER refuse BEFORE UPDATE ON connections BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: connections.label'); END`
  await t.gateway.db?.run({ text: trigger, params: [] })
  const response = await t.fetch('/api/config/plan')
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({ error: { code: 'plan_refused', message: expect.any(String) } })
})
