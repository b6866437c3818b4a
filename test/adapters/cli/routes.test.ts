// `hookgate routes preview`: a draft from a file or standard input, and its order.
import { describe, expect, it } from 'vitest'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const CONFIG = `
import { defineConfig } from 'hookgate'
export default defineConfig({
  connections: {
    main: { provider: 'openai', apiKey: 'sk-x' },
    spare: { provider: 'openai', apiKey: 'sk-y' },
    echo: { provider: 'echo' },
  },
})
`
const DRAFT = { name: 'vm', strategy: 'failover', targets: ['openai/gpt-4.1', 'echo/echo-1'] }

describe('hookgate routes preview', () => {
  const place = async () => {
    const cwd = folder({ 'gateway.config.ts': CONFIG, 'draft.json': JSON.stringify(DRAFT), 'wrong.json': '[]' })
    const env = { GATEWAY_DATA_DIR: cwd }
    // The first write creates the database and the rows of the file.
    expect((await command(['apply'], { cwd, env })).code).toBe(0)
    return { cwd, env }
  }

  it('prints the order, and what is left out under an assumption', async () => {
    const at = await place()
    const shown = await command(['routes', 'preview', 'draft.json'], at)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/TARGET[\s\S]*openai\/gpt-4\.1[\s\S]*2 of 2[\s\S]*echo\/echo-1/)
    const down = ['--assume', 'openai/main=down,openai/spare=down', '--input-tokens', '10', '--json']
    const { code, stdout } = await command(['routes', 'preview', 'draft.json', ...down], at)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      order: [{ target: 'echo/echo-1' }],
      dropped: [{ target: 'openai/gpt-4.1', reason: 'assumed_down' }],
    })
    const piped = await hookgate(['routes', 'preview', '-', '--json'], { ...at, input: JSON.stringify(DRAFT) })
    expect(JSON.parse(piped.stdout)).toMatchObject({ order: [{ target: 'openai/gpt-4.1' }, { target: 'echo/echo-1' }] })
  })

  it('names what is wrong', async () => {
    const at = await place()
    const run = (...args: string[]) => command(['routes', 'preview', ...args], at)
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringMatching(/<file> is missing/) })
    expect(await run('nowhere.json')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be read\.\n.*There is no such file or folder\./),
    })
    expect(await run('wrong.json')).toMatchObject({ code: 1, stderr: expect.stringMatching(/not an object/) })
    expect(await run('draft.json', '--assume', 'openai/main')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--assume/),
    })
    expect(await run('draft.json', '--assume', 'openai/x=up')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There are openai\/main, openai\/spare, echo\/echo/),
    })
    expect(await run('draft.json', '--as-key', '9')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no client key 9/) })
  })
})
