// hookgate export and hookgate import, from one data directory to another.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const PASSPHRASE = 'correct horse battery'

function site() {
  const [cwd, dir] = [folder({}), folder({})]
  return { cwd, cli: (...args: string[]) => command(args, { cwd, env: { GATEWAY_DATA_DIR: dir } }) }
}

async function filled() {
  const here = site()
  await here.cli('provider', 'add', 'openai', '--label', 'main', '--api-key', 'sk-to-be-moved-0123456789')
  await here.cli('budget', 'create', '--limit', '5')
  writeFileSync(join(here.cwd, 'passphrase'), `${PASSPHRASE}\n`)
  return here
}

describe('hookgate export and import', () => {
  it('move rows with their secrets, which only the passphrase opens', async () => {
    const here = await filled()
    const file = join(here.cwd, 'moved.json')
    const passphrase = ['--passphrase-file', join(here.cwd, 'passphrase')]
    const written = await here.cli('export', '--out', file, ...passphrase)
    expect(written).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/2 rows with their secrets, sealed\. Client keys/),
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain('sk-to-be')

    const there = site()
    const dry = await there.cli('import', file, '--dry-run', ...passphrase)
    expect(dry).toMatchObject({ code: 3, stderr: expect.stringMatching(/2 rows would change, 0 were the same/) })
    expect(dry.stdout).toMatch(/^create +connections +openai\/main/m)
    expect((await there.cli('import', file, ...passphrase)).code).toBe(0)
    const again = await there.cli('import', file, '--json', ...passphrase)
    const { data } = JSON.parse(again.stdout) as { data: { action: string }[] }
    expect(data.map(({ action }) => action)).toEqual(['unchanged', 'unchanged'])
    expect((await there.cli('provider', 'list')).stdout).toMatch(/main +…6789/)
    expect((await there.cli('import', file, '--dry-run', ...passphrase)).code).toBe(0)
  })

  it('without a passphrase have no secrets, and say so', async () => {
    const here = await filled()
    const { stdout, stderr } = await here.cli('export')
    expect(JSON.parse(stdout)).toMatchObject({ hookgate_export: 1, secrets: null })
    expect(stderr).toMatch(/2 rows without secrets/)
    const file = join(here.cwd, 'plain.json')
    writeFileSync(file, stdout)
    const there = await site().cli('import', file)
    expect(there.stdout).toMatch(/create +connections +openai\/main +disabled until it gets its key/)
  })

  it('refuse what they cannot do', async () => {
    const here = await filled()
    const file = join(here.cwd, 'moved.json')
    writeFileSync(file, 'no json')
    expect(await here.cli('export', '--out', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/exists already/) })
    expect(await here.cli('import', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/is no JSON/) })
    expect(await here.cli('import', join(here.cwd, 'gone'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be read/),
    })
    writeFileSync(join(here.cwd, 'short'), 'short\n')
    expect(await here.cli('export', '--passphrase-file', join(here.cwd, 'short'))).toMatchObject({ code: 2 })
    writeFileSync(file, '{"hookgate_export":1}')
    expect(await here.cli('import', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/document\./) })
  })
})
