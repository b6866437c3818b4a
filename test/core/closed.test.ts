// A server that embeds a gateway may call it after close(): a request that cannot be booked is not sent.
import { expect, it } from 'vitest'
import { createGateway } from '../../adapters/node/gateway.ts'
import { scriptedUpstream } from '../../adapters/testing/index.ts'
import { ask, DIALECTS } from '../adapters/node/support.ts'
import { wordCode } from '../support/google-error.ts'

it('a closed gateway refuses calls in every dialect with 503, and asks nobody; closing again is no error', async () => {
  const upstream = await scriptedUpstream()
  const up = { provider: 'custom', wireFormat: 'chat', baseUrl: upstream.baseUrl('chat'), apiKey: 'k' } as const
  const gateway = await createGateway({ connections: { up } })
  await gateway.close()
  for (const dialect of DIALECTS) {
    const { path, body } = ask(dialect, 'up/m')
    const response = await gateway.fetch(new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) }))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    const { error } = (await response.json()) as { error: { code: unknown } }
    expect(wordCode(error)).toBe('shutting_down')
  }
  expect(upstream.requests).toEqual([])
  await gateway.close()
  await upstream.close()
})
