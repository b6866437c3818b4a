// Two gateways over one database: a name is given once, a change follows everywhere, and neither undoes what the other did.
import { describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { SITES } from '../../support/sites.ts'
import type { Made } from './support.ts'

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== null)(`virtual models on ${name}`, () => {
    it('are one set for both gateways', async () => {
      const { env, end } = await open()
      const [a, b] = [await createTestGateway({ env }), await createTestGateway({ env })] as const
      const send = (t: TestGateway, path: string, method: string, body?: object) =>
        t.fetch(`/api/virtual-models${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      const made = { name: 'vm', strategy: 'failover', targets: ['chat/m', 'messages/m'] }
      try {
        const both = await Promise.all([send(a, '', 'POST', made), send(b, '', 'POST', made)])
        expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
        const { id } = (await both.find(({ status }) => status === 201)?.json()) as Made
        const seen = async (t: TestGateway) => (await send(t, `/${id}`, 'GET')).status
        await expect.poll(async () => [await seen(a), await seen(b)]).toEqual([200, 200])
        const changes = [
          send(a, `/${id}`, 'PUT', { description: 'from a' }),
          send(b, `/${id}`, 'PUT', { config: { min_panel: 5 } }),
          send(b, `/${id}/toggle`, 'POST'),
          send(a, `/${id}/toggle`, 'POST'),
          send(a, `/${id}/toggle`, 'POST'),
        ]
        expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200))
        const expected = { description: 'from a', enabled: false, config: { min_panel: 5 } }
        const record = async (t: TestGateway) => (await send(t, `/${id}`, 'GET')).json() as Promise<Made>
        for (const t of [a, b]) await expect.poll(() => record(t)).toMatchObject(expected)
        expect((await send(a, '', 'POST', { ...made, name: 'second' })).status).toBe(201)
        const [first, second] = ((await (await send(a, '', 'GET')).json()) as { data: Made[] }).data
        expect((await send(a, '/reorder', 'POST', { ids: [second?.id, first?.id] })).status).toBe(200)
        expect((await send(a, `/${id}`, 'DELETE')).status).toBe(200)
        await expect.poll(() => seen(b)).toBe(404)
        expect((await send(b, '', 'POST', made)).status).toBe(201)
      } finally {
        for (const t of [a, b]) await t.close()
        await end()
      }
    })
  })
}
