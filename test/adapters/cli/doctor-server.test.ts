// hookgate doctor: the running server, and secrets in the file.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { serve } from '../../../adapters/node/server/serve.ts'
import { silentLog } from '../../../core/log.ts'
import { VERSION } from '../../../core/version.ts'
import { config, doctor, finding } from './doctor-findings.ts'

/** Returns a port without a listener. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('hookgate doctor', () => {
  it('asks the server that runs at the address', async () => {
    const port = await freePort()
    const env = { GATEWAY_PORT: String(port) }
    expect((await doctor(env)).of('server')).toEqual([finding('ok', new RegExp(`No server answers at http://127.0.0.1:${port}`))])
    const gateway = await createGateway({}, { log: silentLog })
    const server = await serve(gateway, { host: '127.0.0.1', port, drainMs: 0, log: silentLog })
    expect((await doctor(env)).of('server')).toEqual([finding('ok', new RegExp(`version ${VERSION} is ready`))])
    await server.close()
    await gateway.close()
    const other = createServer((_request, response) => response.end('hello')).listen(port, '127.0.0.1')
    await once(other, 'listening')
    expect((await doctor(env)).of('server')).toEqual([finding('fail', /Another program listens/)])
    other.close()
  })

  it('names secrets that the file spells out, and no others', async () => {
    const file = config(`{ connections: {
      a: { provider: 'openai', apiKey: 'sk-spelled-out-here', headers: { 'x-team': 'a-long-team-token' } },
      b: { provider: 'openai', apiKey: process.env.DOCTOR_TEST_KEY },
    } }`)
    vi.stubEnv('DOCTOR_TEST_KEY', 'sk-of-the-environment')
    const { of, findings } = await doctor({}, file)
    vi.unstubAllEnvs()
    expect(of('secrets')).toEqual([finding('warn', /spells out connections\.a\.apiKey, connections\.a\.headers\.x-team\.$/)])
    expect(JSON.stringify(findings)).not.toContain('sk-')
  })
})
