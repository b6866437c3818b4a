// `hookgate responses`: lists, shows, exports and deletes stored responses.
import { expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

it('shows and deletes what a gateway has stored', async () => {
  const cwd = folder({
    'gateway.config.ts': `export default { connections: { echo: { provider: 'echo', defaultModel: 'echo-1' } } }`,
  })
  const env = { GATEWAY_DATA_DIR: `${cwd}/data`, GATEWAY_PRICING_SYNC_ENABLED: 'false' }
  const gateway = await createGateway(
    { connections: { echo: { provider: 'echo', defaultModel: 'echo-1' } } },
    { env: { ...env, NODE_ENV: 'test' } },
  )
  const ids: string[] = []
  for (const input of ['one', 'two', 'three']) {
    const response = await gateway.fetch(
      new Request('http://gateway.test/v1/responses', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'echo/echo-1', input }),
      }),
      { address: '127.0.0.1', local: true, secure: false },
    )
    ids.push(((await response.json()) as { id: string }).id)
    await gateway.committed()
  }
  await gateway.close()

  const run = (...args: string[]) => command(['responses', ...args], { cwd, env })
  const listed = JSON.parse((await run('list', '--json')).stdout) as { data: { id: string }[] }
  expect(listed.data.map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect((await run('list')).stdout).toContain(ids[0])
  expect(JSON.parse((await run('show', ids[0] as string)).stdout)).toMatchObject({
    id: ids[0],
    response: { status: 'completed' },
  })
  const removed = await run('rm', ids[0] as string)
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('is deleted')])
  expect((await run('show', ids[0] as string)).code).toBe(1)
  expect((await run('rm')).code).toBe(2)
  expect((await run('rm', ids[1] as string, '--all')).code).toBe(2)
  expect(JSON.parse((await run('rm', '--key', '0', '--json')).stdout)).toEqual({ deleted: 2 })
  expect((await run('list')).stderr).toContain('No response is stored')
})
