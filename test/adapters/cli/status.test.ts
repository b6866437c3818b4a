// `hookgate status`: what needs attention, from the database.
import { describe, expect, it } from 'vitest'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

describe('hookgate status', () => {
  it('says that nothing needs attention, and before the first start that the database lacks what the file says', async () => {
    const cwd = folder({})
    const early = await command(['status'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    expect([early.code, early.stdout]).toEqual([0, expect.stringMatching(/warning +plan_drift/)])
    await command(['apply'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    const { code, stdout, stderr } = await command(['status'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/Nothing needs attention/)
    const json = await command(['status', '--json'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    expect([json.code, JSON.parse(json.stdout)]).toEqual([0, { data: [] }])
  })

  it('prints a table and ends with 1 when something is critical', async () => {
    const cwd = folder({
      'gateway.config.ts': `import { defineConfig } from 'hookgate'
        export default defineConfig({ virtualModels: { coder: { strategy: 'failover', targets: ['openai/gpt-4o'] } } })`,
    })
    const env = { GATEWAY_DATA_DIR: `${cwd}/data` }
    expect((await command(['apply'], { cwd, env })).code).toBe(0)
    const { code, stdout } = await command(['status'], { cwd, env })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^SEVERITY +KIND +SINCE +WHAT\n/)
    expect(stdout).toMatch(/critical +no_usable_target +- +No target of the virtual model coder can be used now\./)
    expect(stdout).toMatch(/no_usable_target: Its requests are refused\./)
  })
})
