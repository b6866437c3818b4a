// GETs outside the pipeline, as plugins send them: with a connection's credential, limited, and free of secrets.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { closedPort } from '../../adapters/testing/network-faults.ts'
import { connectProxy } from '../../adapters/testing/proxies.ts'
import { hang, raw, type Step } from '../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { DirectCalls } from '../../core/services.ts'
import type { Connection } from '../../core/types/ports/provider.ts'

let t: TestGateway
let calls: DirectCalls
let connection: Connection
const clock = fakeClock()
afterEach(() => t.close())

async function start(upstream: Step[], more: Record<string, unknown> = {}, env: Record<string, string> = {}): Promise<void> {
  const taker = definePlugin({
    name: 'taker',
    requires: ['directCalls', 'accounts'],
    setup(gateway) {
      calls = gateway.use('directCalls')
      const accounts = gateway.use('accounts')
      gateway.hook('ready', () => {
        connection = accounts.list()[0]?.connection as Connection
      })
    },
  })
  const own = await scriptedUpstream(...upstream)
  const address = { provider: 'custom', baseUrl: own.baseUrl('chat'), wireFormat: 'chat' as const }
  const connections = { acme: { ...address, apiKey: 'sk-canary-key', ...more } }
  const gateway = await createTestGateway({ plugins: [taker()], config: { connections }, env, ports: { clock } })
  t = {
    ...gateway,
    upstream: own,
    async close() {
      await gateway.close()
      await own.close()
    },
  }
}

const textOf = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body)

it('carry the key and the headers of the connection, and a status is an answer', async () => {
  await start([raw(200, '{"a":1}', { headers: { 'x-left': '7' } }), raw(404, 'nothing')], { headers: { 'x-team': 'blue' } })
  const answer = await calls.get(connection, '/models', 1000)
  expect([answer.status, answer.headers.get('x-left'), textOf(answer)]).toEqual([200, '7', '{"a":1}'])
  const [request] = t.upstream.requests
  expect(request).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer sk-canary-key', 'x-team': 'blue' } })
  expect(request?.path).toMatch(/[^/]\/models$/)
  expect(await calls.get(connection, '/nothing', 1000)).toMatchObject({ status: 404 })
  expect(t.settled).toEqual([])
})

it('go through the proxy that requests go through', async () => {
  const proxy = await connectProxy()
  await start([raw(200, 'ok')], {}, { OUTBOUND_PROXY: `http://127.0.0.1:${proxy.port}` })
  await calls.get(connection, '/models', 1000)
  expect(proxy.tunnels).toHaveLength(1)
  await calls.viaProxy(null, `${t.upstream.baseUrl('chat')}/x`, 1000)
  expect(proxy.tunnels).toHaveLength(1)
  expect(t.upstream.requests[1]?.headers.authorization).toBeUndefined()
  await proxy.close()
})

it('end at their time limit, at 1 MiB and with the connection, and say nothing they were sent', async () => {
  await start([hang(), raw(200, 'x'.repeat(1024 * 1024 + 1)), raw(200, 'x'.repeat(1024 * 1024))])
  const late = calls.get(connection, '/slow', 10_000).catch((error: unknown) => error)
  await expect.poll(() => t.upstream.requests.length).toBe(1)
  await clock.advance('10s')
  expect(await late).toMatchObject({ status: 504, message: 'No answer within 10 s.' })
  await expect.poll(() => t.upstream.requests[0]?.abortedAt).not.toBeNull()
  await expect(calls.get(connection, '/large', 10_000)).rejects.toMatchObject({ status: 502 })
  expect((await calls.get(connection, '/fits', 10_000)).body.length).toBe(1024 * 1024)
  const gone = await calls.get({ ...connection, baseUrl: `http://127.0.0.1:${await closedPort()}` }, '/x', 1000).catch(String)
  expect(gone).toMatch(/refused/)
  expect(gone).not.toMatch(/canary|127\.0/)
})
