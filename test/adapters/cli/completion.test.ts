// `hookgate completion` in the shells themselves: commands, flags, and values of the database.
import { execFileSync, spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { built, folder, hookgate, hookgateRoot } from './hookgate.ts'
import { command } from './in-process.ts'

const env = { GATEWAY_DATA_DIR: folder({}) }
const here = folder({
  'gateway.config.ts': `export default { virtualModels: { coder: { strategy: 'failover', targets: ['echo/echo-1'] } }, connections: { echo: { provider: 'echo', defaultModel: 'echo-1' } } }`,
})
beforeAll(async () => {
  await built()
  for (const args of [['key', 'create', '--label', 'ci-bot'], ['key', 'create', '--label', 'ci two words'], ['apply']])
    expect((await command(args, { cwd: here, env })).code, args.join(' ')).toBe(0)
}, 60_000)

const SELF = `hookgate() { '${process.execPath}' '${hookgateRoot}/dist/adapters/cli/main.js' "$@"; }`

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

describe('bash', () => {
  let script: string
  beforeAll(async () => {
    script = (await command(['completion', 'bash'])).stdout
  })
  const completed = (...words: string[]): string[] => {
    const line = `${SELF}\n${script}\nCOMP_WORDS=(hookgate ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _hookgate; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', line], { encoding: 'utf8', cwd: here, env: { ...process.env, ...env } })
      .trim()
      .split('\n')
  }

  it('completes commands, subcommands, flags and fixed words', () => {
    expect(completed('se')).toEqual(['serve'])
    expect(completed('key', '')).toEqual(['create', 'list', 'revoke', 'rotate'])
    expect(completed('key', 'create', '--mod')).toEqual(['--models'])
    expect(completed('serve', '--port', '1', '--da')).toEqual(['--data-dir'])
    expect(completed('logs', 'ta')).toEqual(['tail'])
    expect(completed('logs', 'tail', '--fol')).toEqual(['--follow'])
    expect(completed('completion', 'po')).toEqual(['powershell'])
  })

  it('completes labels of keys, numbers of keys, virtual models and models of the database', () => {
    expect(completed('logs', '--key', 'c')).toEqual(['ci-bot'])
    expect(completed('key', 'revoke', '')).toEqual(['2', '1'])
    expect(completed('logs', 'tail', '--virtual-model', '')).toEqual(['coder'])
    expect(completed('price', '').sort()).toEqual(['coder', 'echo/echo-1'])
    expect(completed('key', 'create', '--models', 'coder,ec')).toEqual(['coder,echo/echo-1'])
  })
})

it('zsh reads its script', async (context) => {
  if (!has('zsh')) return context.skip('zsh is not installed')
  const { stdout } = await command(['completion', 'zsh'])
  expect(spawnSync('zsh', ['-c', `${SELF}\n${stdout}`], { encoding: 'utf8' }).stderr).toBe('')
})

it('fish reads its script', async (context) => {
  if (!has('fish')) return context.skip('fish is not installed')
  const { stdout } = await command(['completion', 'fish'])
  expect(spawnSync('fish', ['-c', stdout], { encoding: 'utf8' }).stderr).toBe('')
})

it('fish has a line for each word', async () => {
  const { stdout } = await command(['completion', 'fish'])
  expect(stdout).toContain("complete -c hookgate -f -n 'not __fish_seen_subcommand_from serve")
  expect(stdout).toMatch(/^complete -c hookgate -n '__fish_seen_subcommand_from serve' -l port$/m)
  expect(stdout).toMatch(/from logs' -x -l key -a '\(hookgate completion values keys\)'$/m)
})

it('PowerShell has a table of words and one of values', async () => {
  const { stdout } = await command(['completion', 'powershell'])
  expect(stdout).toMatch(/^Register-ArgumentCompleter -Native -CommandName hookgate/)
  expect(stdout).toContain("'key' = @('create', 'list', 'revoke', 'rotate')")
  expect(stdout).toContain("'logs --key' = 'keys'")
})

it('is silent where there is no database, and never uses the network', async () => {
  const nothing = { GATEWAY_DATA_DIR: folder({}) }
  const far = { GATEWAY_DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  for (const variables of [nothing, far])
    expect(await hookgate(['completion', 'values', 'keys'], { cwd: folder({}), env: variables })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
})
