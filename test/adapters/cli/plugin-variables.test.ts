// The variables of a plugin that the configuration file names: `hookgate env` lists them, and `doctor` knows them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { folder, hookgateRoot, serving } from './hookgate.ts'
import { command } from './in-process.ts'

const cwd = folder({
  'gateway.config.ts': `import { definePlugin, preset } from 'hookgate'
    import { z } from '${pathToFileURL(join(hookgateRoot, 'node_modules/zod/index.js'))}'
    const slowLog = definePlugin({
      name: 'slow-log',
      config: z.object({ overMs: z.int().min(1).default(1000), token: z.string().optional() }),
      variables: {
        SLOW_LOG_OVER_MS: { option: 'overMs', about: 'Requests that take longer are logged, ms.' },
        SLOW_LOG_TOKEN: { option: 'token', type: 'secret', about: 'Token of the collector.' },
      },
      setup() {},
    })
    export default { plugins: [...preset(), slowLog()] }`,
})

describe('hookgate env', () => {
  it('lists them with the plugin; a secret is masked', async () => {
    const env = { GATEWAY_SLOW_LOG_OVER_MS: '20', GATEWAY_SLOW_LOG_TOKEN: 'hush-hush' }
    const { code, stdout } = await command(['env', '--json'], { cwd, env })
    expect(code).toBe(0)
    expect(stdout).not.toContain('hush-hush')
    const rows = (JSON.parse(stdout) as { name: string; value: string }[]).filter(({ name }) => name.includes('SLOW_LOG'))
    expect(rows).toEqual([
      {
        name: 'GATEWAY_SLOW_LOG_OVER_MS',
        type: 'int',
        value: 20,
        source: 'env',
        default: 1000,
        plugin: 'slow-log',
        about: 'Requests that take longer are logged, ms.',
      },
      expect.objectContaining({ name: 'GATEWAY_SLOW_LOG_TOKEN', value: '***', default: null }),
    ])
  })

  it('a bad value ends it with the name of the variable', async () => {
    const { code, stderr } = await command(['env'], { cwd, env: { GATEWAY_SLOW_LOG_OVER_MS: '0' } })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/GATEWAY_SLOW_LOG_OVER_MS: .*of at least 1/)])
  })
})

describe('hookgate doctor', () => {
  const variables = async (env: Record<string, string>, at = cwd) => {
    const { stdout } = await command(['doctor', '--json'], { cwd: at, env: { GATEWAY_DATA_DIR: folder({}), ...env } })
    const findings = (JSON.parse(stdout) as { data: { check: string; message: string; fix?: string }[] }).data
    return findings.filter(({ check }) => check === 'variables')
  }

  it('knows them, and says what a slip in such a name meant', async () => {
    expect((await variables({ GATEWAY_SLOW_LOG_OVER_MS: '5' }))[0]?.message).toContain('SLOW_LOG_OVER_MS (env)')
    expect((await variables({ GATEWAY_SLOW_LOG_OVR_MS: '5' }))[0]?.fix).toBe('Did you mean GATEWAY_SLOW_LOG_OVER_MS?')
  })

  it('without the plugin they are unknown', async () => {
    const [finding] = await variables({ GATEWAY_SLOW_LOG_OVER_MS: '5' }, folder({}))
    expect(finding?.message).toBe('GATEWAY_SLOW_LOG_OVER_MS is set, but the gateway does not know it.')
  })
})

describe('hookgate serve', () => {
  it('warns of a slip in such a name, once the plugins are loaded', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_SLOW_LOG_OVR_MS: '5', GATEWAY_SLOW_LOG_TOKEN: 'hush-hush' }
    const server = await serving([], { cwd, env })
    server.child.kill('SIGTERM')
    await server.exited
    const told = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('serve.unread_variable'))
    expect(told).toEqual([expect.stringContaining('Did you mean GATEWAY_SLOW_LOG_OVER_MS?')])
    expect(server.stderr()).not.toContain('hush-hush')
  })
})
