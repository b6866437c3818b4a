// `hookgate advisor`, `digest` and `eval`: from repeated requests to an applied recommendation, and back.
import { beforeAll, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const connections = { echo: { provider: 'echo' } }
const cwd = folder({ 'gateway.config.ts': `export default { connections: ${JSON.stringify(connections)} }` })
const env = { GATEWAY_DATA_DIR: `${cwd}/data`, GATEWAY_PRICING_SYNC_ENABLED: 'false' }
const run = (...args: string[]) => command(args, { cwd, env })

beforeAll(async () => {
  const gateway = await createGateway({ connections }, { env: { ...env, NODE_ENV: 'test' } })
  for (let count = 0; count < 60; count++) {
    const response = await gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'The same again' }] }),
      }),
      { address: '127.0.0.1', local: true, secure: false },
    )
    expect(response.status).toBe(200)
    await response.text()
  }
  await gateway.committed()
  await gateway.close()
})

it('lists a recommendation with its evidence, applies it and takes it back', async () => {
  const listed = await run('advisor')
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout).toMatch(/^ID +KIND +RECOMMENDATION +A MONTH +CONFIDENCE$/m)
  // 59 of 60. More than 50 requests in one second are sampled by the hour, and the estimate then is 49 of 50 or 69 of 70.
  expect(listed.stdout).toMatch(/9[89] % of the requests repeated one of the last five minutes/)
  const { data } = JSON.parse((await run('advisor', 'list', '--json')).stdout) as { data: { id: string; kind: string }[] }
  expect(data.map(({ kind }) => kind)).toEqual(['enable_exact_cache'])
  const id = data[0]?.id as string

  const applied = await run('advisor', 'apply', id, '--probation-hours', '48')
  expect(applied.code).toBe(0)
  expect(applied.stderr).toMatch(/Applied as action 1\. On probation until /)
  expect((await run('advisor', 'applied')).stdout).toMatch(/^1 +enable_exact_cache +exact_cache\.ttl_ms +on probation /m)
  expect((await run('advisor')).stderr).toContain('There is nothing to recommend from the last 14 days.')

  expect((await run('advisor', 'rollback', '1')).stderr).toContain('Action 1 is rolled back.')
  expect((await run('advisor', 'applied')).stdout).toContain('rolled_back (manual)')
  const again = await run('advisor', 'confirm', '1')
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('This action is rolled_back already.')
})

it('refuses what is not there', async () => {
  const unknown = await run('advisor', 'apply', 'rec_unknown')
  expect(unknown.code).toBe(1)
  expect(unknown.stderr).toContain('There is no such recommendation any more')
  for (const wrong of [
    ['digest', '--week', '2026-47'],
    ['digest', '--week', '2025-W53'],
    ['advisor', 'apply', 'rec_x', '--probation-hours', '0'],
  ]) {
    const { code, stderr } = await run(...wrong)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(wrong.at(-2) as string) })
  }
})

it('prints the digest of a week and the ranking of models', async () => {
  const digest = await run('digest')
  expect(digest).toMatchObject({ code: 0, stderr: '' })
  expect(digest.stdout).toMatch(/^\d+ requests, /m)
  const ranking = await run('eval', '--optimize', 'latency')
  expect(ranking.stdout).toMatch(/^1 +echo\/echo-1 +60 +100\.0 % /m)
  expect((await run('eval', '--optimize', 'beauty')).code).toBe(2)
})
