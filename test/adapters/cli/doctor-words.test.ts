// hookgate doctor: its summary, sources of settings, the time zone of budgets, the room on the disk, and the test of connections.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { checkRoom } from '../../../adapters/cli/doctor/room.ts'
import { config, doctor, finding } from './doctor-findings.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

describe('hookgate doctor', () => {
  it('ends with the number of findings of each kind', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_HOST: '0.0.0.0' }
    const { stdout } = await command(['doctor'], { cwd: folder({}), env })
    expect(stdout).toMatch(/\n0 failed, \d+ warnings?, \d+ passed\n$/)
    expect((await command(['doctor', '--quiet'], { cwd: folder({}), env })).stdout).not.toMatch(/^✓/m)
  })

  it('has words in place of signs where the terminal cannot show them', async () => {
    const shown = async (env: Record<string, string>) =>
      (await command(['doctor'], { cwd: folder({}), env: { GATEWAY_HOST: '0.0.0.0', ...env } })).stdout
    expect(await shown({})).toMatch(/^✓ {2}node +Node [\s\S]*^⚠ {2}network .*\n +→ Set/m)
    const plain: Record<string, string>[] = [{ LC_ALL: 'C' }, { LC_ALL: '', LC_CTYPE: 'de_DE.ISO-8859-1' }, { TERM: 'linux' }]
    for (const env of plain) expect(await shown(env)).toMatch(/^ok {4}node +Node [\s\S]*^warn {2}network .*\n +-> Set/m)
  })

  it('names a time zone that does not exist, and the one that was probably meant', async () => {
    const zoned = (zone: string) => doctor({ GATEWAY_BUDGET_TIMEZONE: zone }, {}, folder({}), /^[\s\S]*$/)
    expect((await zoned('Europe/Belin')).of('time zone')).toEqual([
      {
        check: 'time zone',
        status: 'warn',
        message: 'GATEWAY_BUDGET_TIMEZONE: there is no time zone Europe/Belin. Budget windows are in UTC.',
        fix: 'Did you mean Europe/Berlin?',
      },
    ])
    expect((await zoned('Mars/North')).of('time zone')[0]?.fix).toMatch(/IANA/)
    expect((await zoned('Europe/Berlin')).of('time zone')).toEqual([])
  })

  it('counts the settings by their source, and lists them with --sources', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_LOG_BODIES: 'true' }
    const cwd = folder({})
    await command(['provider', 'add', 'echo', '--label', 'other'], { cwd, env })
    const { stdout } = await command(['doctor', '--sources'], { cwd, env })
    expect(stdout).toMatch(/^✓ +settings +\d+ by default, 1 by env.*--sources/m)
    expect(stdout).toMatch(/^SETTING +SOURCE/m)
    expect(stdout).toMatch(/^request_log\.bodies +env/m)
    const { stdout: json } = await command(['doctor', '--sources', '--json'], { cwd, env })
    expect((JSON.parse(json) as { sources: object }).sources).toMatchObject({ 'request_log.bodies': { source: 'env' } })
  })

  it('warns when the disk has less than a gigabyte', () => {
    expect(checkRoom('/data', 41e9)).toEqual(finding('ok', /^\/data has 41\.0 GB free\.$/))
    expect(checkRoom('/data', 5e8)).toEqual(finding('warn', /^\/data has 0\.5 GB free\.$/))
  })

  it('with --test asks each connection, and says what its provider said', async () => {
    const refusing = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"Incorrect API key provided."}}')
    }).listen(0, '127.0.0.1')
    await once(refusing, 'listening')
    const { port } = refusing.address() as AddressInfo
    const env = { GATEWAY_DATA_DIR: folder({}), DOCTOR_KEY: 'sk-of-a-test' }
    const file = config(`{ connections: {
      echo: { provider: 'echo' },
      main: { provider: 'openai', apiKey: process.env.DOCTOR_KEY, baseUrl: 'http://127.0.0.1:${port}/v1' },
    } }`)
    const cwd = folder(file)
    await command(['apply', '--yes'], { cwd, env })
    const { code, stdout } = await command(['doctor', '--test', '--json'], { cwd, env })
    refusing.close()
    const tested = (JSON.parse(stdout) as { data: { check: string }[] }).data.filter(({ check }) => check === 'test')
    expect(tested).toEqual([
      finding('ok', /^echo\/echo answers \(echo-1, \d+ ms\)\.$/),
      finding('fail', /^openai\/main: .*\(credentials, \d+ ms\)/),
    ])
    expect(tested[1]).toMatchObject({ fix: expect.stringContaining('hookgate provider test') })
    expect(code).toBe(1)
  })
})
