// `echo` is for trying things out: on the cloud profile it exists only when the operator's file has a connection to it.
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { folder } from '../cli/hookgate.ts'

let close: () => Promise<void>
afterEach(() => close())

const ECHO = { echo: { provider: 'echo' } }
const start = async (profile: string, connections: object = {}): Promise<TestGateway> => {
  const t = await createTestGateway({ config: { connections: connections as typeof ECHO }, env: { PROFILE: profile } })
  close = () => t.close()
  return t
}
const listed = async (fetch: (path: string) => Promise<Response>) => {
  const { data } = (await (await fetch('/api/registry')).json()) as { data: { id: string }[] }
  return data.some(({ id }) => id === 'echo')
}
const asked = async (t: TestGateway) =>
  (await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] })).status

describe('echo', () => {
  it.each([
    ['local', false, true],
    ['local', true, true],
    ['cloud', false, false],
    ['cloud', true, true],
  ])('on the %s profile, in the file: %s, is there: %s', async (profile, inFile, there) => {
    const t = await start(profile, inFile ? ECHO : {})
    expect(await listed((path) => t.fetch(path))).toBe(there)
    expect(await asked(t)).toBe(inFile ? 200 : 400)
    const made = await t.post('/api/providers', { provider: 'echo', label: 'mine' })
    expect(made.status).toBe(there ? 201 : 400)
    expect(await asked(t)).toBe(there ? 200 : 400)
  })

  it('goes and comes with the file', async () => {
    const t = await start('cloud', ECHO)
    expect(await asked(t)).toBe(200)
    await t.gateway.reload({ connections: {} })
    expect([await asked(t), await listed((path) => t.fetch(path))]).toEqual([400, false])
    await t.gateway.reload({ connections: ECHO })
    expect([await asked(t), await listed((path) => t.fetch(path))]).toEqual([200, true])
  })

  it.each([
    ['local', true],
    ['cloud', false],
  ])('without a file, on the %s profile, has a connection: %s', async (profile, there) => {
    const cwd = folder({})
    const loaded = await loadGateway({
      cwd,
      env: {
        GATEWAY_PROFILE: profile,
        GATEWAY_DATA_DIR: `${cwd}/data`,
        GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
      },
      ports: { log: silentLog },
    })
    close = () => loaded.close()
    const body = JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'hi' }] })
    const answer = await loaded.gateway.fetch(new Request('http://localhost/v1/chat/completions', { method: 'POST', body }))
    expect(answer.status).toBe(there ? 200 : 400)
  })
})
