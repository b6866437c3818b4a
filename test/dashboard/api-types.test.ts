// The types of the client and of the dashboard belong to the control plane as it is.
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
// @ts-expect-error a script without types
import { documentOf, hashOf, WITH_EVERY_ROUTE } from '../../scripts/api-document.mjs'

it('`npm run gen:api` was run after the last change of a control-plane route', async () => {
  const t = await createTestGateway(WITH_EVERY_ROUTE)
  const document = await documentOf(t)
  await t.close()
  const committed = await readFile(new URL('../../adapters/client/schema.ts', import.meta.url), 'utf8')
  expect(committed.split('\n')[1]).toBe(`// ${hashOf(document)}`)
})
