// A gateway that is killed while its lines are in the hosts file and its CA is in the trust store: the next start removes both.
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { built, folder, type Serving, serving } from '../../adapters/cli/hookgate.ts'

const HOSTS = '127.0.0.1 localhost\n'

beforeAll(built)

it('a crash leaves no line and no certificate after the next start, and Ctrl-C leaves none at once', async () => {
  const cwd = folder({
    hosts: HOSTS,
    'gateway.config.ts': `import { defineConfig, preset } from 'hookgate'
export default defineConfig({
  connections: { echo: { provider: 'echo' } },
  plugins: preset({
    interception: {
      hosts: [{ host: 'api.vendor.test', tool: 'ide', inference: [{ path: '/v1/chat/completions' }] }],
      hostsFile: './hosts',
      trustStore: { folder: '.', update: ['true'] },
    },
  }),
})
`,
  })
  const hosts = (): string => readFileSync(join(cwd, 'hosts'), 'utf8')
  const certificate = (): boolean => existsSync(join(cwd, 'hookgate-interception.crt'))
  const on = { MITM_ENABLED: 'true', MITM_PORT: '0', MITM_MANAGE_HOSTS: 'true', MITM_INSTALL_CA: 'true' }
  const start = (variables: Record<string, string>): Promise<Serving> =>
    serving([], {
      cwd,
      env: {
        GATEWAY_DATA_DIR: join(cwd, 'data'),
        ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [`GATEWAY_${name}`, value])),
      },
    })
  const intercepting = async (): Promise<Serving> => {
    const server = await start(on)
    await expect.poll(hosts).toContain('127.0.0.1 api.vendor.test')
    await expect.poll(certificate).toBe(true)
    return server
  }

  const killed = await intercepting()
  killed.child.kill('SIGKILL')
  await once(killed.child, 'close')
  expect(hosts()).toContain('api.vendor.test')
  const next = await start({})
  await expect.poll(hosts).toBe(HOSTS)
  await expect.poll(certificate).toBe(false)
  next.child.kill('SIGTERM')
  await next.exited

  const stopped = await intercepting()
  stopped.child.kill('SIGINT')
  expect((await stopped.exited).code).toBe(0)
  expect([hosts(), certificate()]).toEqual([HOSTS, false])
}, 120_000)
