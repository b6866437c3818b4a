// `hookgate webhook delivery` and `hookgate webhook redeliver`.
import { expect, it } from 'vitest'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

it('queues deliveries again, and says what is missing or unknown', async () => {
  const cwd = folder({})
  const env = { GATEWAY_DATA_DIR: `${cwd}/data` }
  const run = (...args: string[]) => command(['webhook', ...args], { cwd, env })
  const made = await run('create', 'https://hooks.example.com/in', '--json')
  const { id } = JSON.parse(made.stdout) as { id: string }
  const since = '2026-01-01T00:00:00Z'
  const done = await run('redeliver', id, '--since', since, '--json')
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { queued: 0, remaining: 0 }])
  expect((await run('redeliver', id, '--since', since)).stderr).toMatch(/0 deliveries are queued/)
  expect(await run('redeliver', id)).toMatchObject({ code: 2, stderr: expect.stringMatching(/--since is missing/) })
  expect(await run('redeliver', id, '--since', 'soon')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--since/) })
  expect(await run('redeliver', 'ep_other', '--since', since)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no webhook endpoint ep_other/),
  })
  expect(await run('delivery', 'dlv_other')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no webhook delivery/) })
  expect(await run('delivery', '../x')).toMatchObject({ code: 2 })
})
