// U+0000 in a body or a query: PostgreSQL cannot store it, so it is the caller's error on every engine.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { SITES } from '../../support/sites.ts'

const BODIES: [path: string, body: object, param: string][] = [
  ['/api/keys', { label: 'a\0b' }, 'label'],
  ['/api/keys', { label: 'a', allowed_models: ['x/y', 'x/\0'] }, 'allowed_models.1'],
  ['/api/tokens', { label: '\0' }, 'label'],
  ['/api/webhooks/endpoints', { url: 'http://93.184.216.34/\0' }, 'url'],
]
const QUERIES: [path: string, param: string][] = [
  ['/api/audit?action=%00', 'action'],
  ['/api/savings?model=a%00', 'model'],
  ['/api/webhooks/deliveries?endpoint_id=%00', 'endpoint_id'],
  ['/api/logs?q=%00', 'q'],
]

describe.each(SITES)('%s', (_, missing, open) => {
  it.skipIf(missing !== null)('a text with U+0000 in it is 400, and named', async () => {
    const site = await open()
    const t = await createTestGateway({ env: site.env })
    try {
      for (const [path, body, param] of BODIES) {
        const response = await t.post(path, body)
        const answer = (await response.json()) as { error: { param: string } }
        expect([path, response.status, answer.error.param]).toEqual([path, 400, param])
      }
      for (const [path, param] of QUERIES) {
        const response = await t.fetch(path)
        const answer = (await response.json()) as { error: { param: string } }
        expect([path, response.status, answer.error.param]).toEqual([path, 400, param])
      }
    } finally {
      await t.close()
      await site.end()
    }
  })
})
