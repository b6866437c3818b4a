// The command line on a terminal: help, completion, `.env`, readable log lines, tables that fit.
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closest } from '../../../adapters/cli/closest.ts'
import { readDotEnv } from '../../../adapters/cli/dot-env.ts'
import { table } from '../../../adapters/cli/output/table.ts'
import { terminalLog } from '../../../adapters/cli/output/terminal-log.ts'
import { fakeClock } from '../../../adapters/testing/index.ts'
import { folder, hookgate, serving } from './hookgate.ts'
import { command } from './in-process.ts'

describe('help', () => {
  it('groups the commands, shows examples and the exit codes, without colours in a pipe', async () => {
    const { code, stdout } = await hookgate(['--help'], { env: { FORCE_COLOR: '' } })
    expect(code).toBe(0)
    for (const part of [/^Access\n {2}key +Client keys/m, /^Configuration\n {2}plan /m, /^Examples$/m, /3 changes/])
      expect(stdout).toMatch(part)
    expect(stdout).not.toContain('\u001b')
    const { stdout: ofKey } = await hookgate(['key', 'create', '--help'])
    expect(ofKey).toContain('--label')
    expect(ofKey).not.toContain('\u001b')
  })

  it('`help <command>` is `<command> --help`', async () => {
    for (const words of [['budget'], ['budget', 'create'], ['serve']])
      expect(await command(['help', ...words])).toEqual(await command([...words, '--help']))
    expect(await command(['help'])).toEqual(await command(['--help']))
  })

  it('names every command', async () => {
    const { stdout: script } = await command(['completion', 'bash'])
    const commands = /''\) words='([^']*)'/.exec(script)?.[1]?.split(' ') ?? []
    const { stdout } = await command(['--help'])
    expect(commands).toContain('serve')
    for (const name of commands) expect(stdout, name).toMatch(new RegExp(`^ {2}${name} +\\w`, 'm'))
    expect(stdout).not.toContain('\nOther\n')
  })
})

describe('closest', () => {
  it('finds a name with one changed, missing, doubled or swapped letter', () => {
    const names = ['serve', 'provider', 'budget', 'webhook', 'master-key']
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.constantFrom('drop', 'double', 'swap', 'change'), (name, at, how) => {
        const i = at % (name.length - 1)
        const letters = [...name]
        if (how === 'drop') letters.splice(i, 1)
        else if (how === 'double') letters.splice(i, 0, letters[i] as string)
        else if (how === 'swap') letters.splice(i, 2, letters[i + 1] as string, letters[i] as string)
        else letters[i] = 'z'
        expect(closest(letters.join(''), names)).toBe(name)
      }),
    )
  })

  it('suggests no name for another word', () => {
    expect(closest('bogus', ['serve', 'key', 'budget'])).toBeNull()
    expect(closest('x', ['key', 'db'])).toBeNull()
  })
})

describe('.env', () => {
  it('sets what is not set, and says which', () => {
    const cwd = folder({ '.env': 'GATEWAY_PORT=1\nGATEWAY_HOST="::1"\n# comment\n' })
    const environment: NodeJS.ProcessEnv = { GATEWAY_PORT: '2' }
    expect(readDotEnv(cwd, environment)).toEqual({ path: join(cwd, '.env'), names: ['GATEWAY_HOST'] })
    expect(environment).toEqual({ GATEWAY_PORT: '2', GATEWAY_HOST: '::1' })
    expect(readDotEnv(folder({}), environment)).toBeNull()
  })

  it('is read by every command, and logged by `serve`', async () => {
    const cwd = folder({ '.env': 'GATEWAY_STREAM_HEARTBEAT_MS=1234\n' })
    const { stdout } = await hookgate(['env', '--json'], { cwd })
    const rows = JSON.parse(stdout) as { name: string; value: unknown }[]
    expect(rows.find(({ name }) => name === 'GATEWAY_STREAM_HEARTBEAT_MS')?.value).toBe(1234)
    const server = await serving([], { cwd })
    expect(server.stderr()).toContain('"serve.env_file"')
    server.child.kill('SIGKILL')
  })
})

describe('log lines on a terminal', () => {
  it('show time, level, event, fields and hint', () => {
    const lines: string[] = []
    const log = terminalLog(fakeClock(Date.UTC(2026, 0, 1, 12, 30, 5)), (line) => lines.push(line))
    vi.stubEnv('NO_COLOR', '1')
    log.warn('redis.lost', { url: 'redis://r:1', error: 'no answer\u001b[2J', hint: 'Limits are local now.' })
    log.debug('quiet')
    vi.unstubAllEnvs()
    expect(lines).toEqual([
      '12:30:05 warn  redis.lost url=redis://r:1 error="no answer\ufffd[2J"\n         Limits are local now.',
    ])
  })
})

describe('tables', () => {
  const { isTTY, columns } = process.stdout
  afterEach(() => {
    Object.assign(process.stdout, { isTTY, columns })
  })

  it('fit the terminal, and stay whole elsewhere', () => {
    const rows = [['1', 'x'.repeat(200), 'y'.repeat(100)]]
    Object.assign(process.stdout, { isTTY: true, columns: 80 })
    vi.stubEnv('NO_COLOR', '1')
    for (const line of table(['ID', 'NAME', 'MEANING'], rows).split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    Object.assign(process.stdout, { isTTY: false, columns: 80 })
    expect(table(['ID', 'NAME', 'MEANING'], rows)).toContain('y'.repeat(100))
    vi.unstubAllEnvs()
  })
})
