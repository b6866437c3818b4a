// Parameters of control-plane paths reach the handler decoded.
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'

let t: TestGateway
afterEach(() => t.close())

async function boot(params?: z.ZodObject): Promise<TestGateway> {
  const shop = definePlugin({
    name: 'shop',
    setup(gateway) {
      gateway.api({
        method: 'GET',
        path: '/api/shop/:name/parts/:part',
        summary: 'A part.',
        ...(params !== undefined && { params }),
        response: z.unknown(),
        handler: (call: { params: unknown }) => call.params,
      } as never)
    },
  })
  t = await createTestGateway({ plugins: [shop()] })
  return t
}

const TEXTS = ['a', 'a b', 'a/b', 'ü', '%', '100%25', '?#&', '日本', '🙂', '__proto__', '..a']
const SCHEMAS = [undefined, z.object({ name: z.string(), part: z.string() })]

describe('a parameter of a path', () => {
  it.each(SCHEMAS)('is decoded, whatever it holds', async (params) => {
    await boot(params)
    for (const name of TEXTS)
      for (const part of TEXTS) {
        const answer = await t.fetch(`/api/shop/${encodeURIComponent(name)}/parts/${encodeURIComponent(part)}`)
        expect(await answer.json()).toEqual({ name, part })
      }
  })

  it('that no text can be is a 404', async () => {
    await boot()
    for (const bad of ['%00', 'a%00b', '%ff', '%', '%zz', '%e0%a4']) {
      const answer = await t.fetch(`/api/shop/${bad}/parts/x`)
      expect([bad, answer.status]).toEqual([bad, 404])
    }
  })
})
