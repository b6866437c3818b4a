// The types of the client and of the dashboard belong to the control plane as it is.
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
// @ts-expect-error a script without types
import { hashOf, READER } from '../../scripts/api-document.mjs'

it('`npm run gen:api` was run after the last change of a control-plane route', async () => {
  const t = await createTestGateway({ env: { PRICING_SYNC_ENABLED: 'false', MULTI_TENANT: 'true' } })
  const document = await (await t.gateway.control.fetch(new Request('http://gateway.test/api/openapi.json'), READER)).json()
  await t.close()
  const committed = await readFile(new URL('../../adapters/client/schema.ts', import.meta.url), 'utf8')
  expect(committed.split('\n')[1]).toBe(`// ${hashOf(document)}`)
})
