// `hookgate signup`, `org` and `user` on the database, without a running server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const cwd = folder({})
const data = { GATEWAY_DATA_DIR: folder({}), GATEWAY_PRICING_SYNC_ENABLED: 'false' }
const env = { ...data, GATEWAY_MULTI_TENANT: 'true' }
const cli = (...args: string[]) => command(args, { cwd, env })
async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

describe('hookgate signup, org and user', () => {
  it('make the first administrator and an organization; the password comes from standard input', async () => {
    const args = ['signup', '--admin', '--email', 'Root@corp.example', '--org', 'Corp', '--json']
    const { code, stdout } = await hookgate(args, { cwd, env, input: 'correct horse\n' })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      user: { email: 'root@corp.example', system_admin: true },
      org: { name: 'Corp', members: 1 },
    })
    expect(stdout).not.toContain('horse')
    const again = await hookgate(args, { cwd, env, input: 'correct horse\n' })
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/an account with this address[\s\S]*hookgate user list/),
    })
    const silent = await hookgate(args, { cwd, env, input: '' })
    expect(silent).toMatchObject({ code: 2, stderr: expect.stringContaining('on a terminal, where it asks') })
    const listed = await cli('user', 'list')
    expect(listed.stdout).toMatch(/root@corp\.example +- +yes +system admin +Corp \(owner\)/)
  })

  it('create, suspend, resume and delete organizations, the export first', async () => {
    await json('user', 'create', 'ann@corp.example', '--without-password')
    const made = await json<{ id: number }>('org', 'create', 'Anvils', '--owner', 'ann@corp.example')
    expect((await cli('org', 'suspend', 'Anvils')).stderr).toContain(`Organization ${made.id} (Anvils) is suspended.`)
    expect((await cli('org', 'list')).stdout).toMatch(/Anvils +suspended +1/)
    expect(await json('org', 'resume', String(made.id))).toMatchObject({ suspended: false })
    expect(await cli('org', 'delete', 'Anvils')).toMatchObject({ code: 2 })
    expect(await cli('org', 'delete', 'Anvils', '--confirm', 'Anvil')).toMatchObject({ code: 2 })
    const out = join(cwd, 'anvils.json')
    expect((await cli('org', 'delete', 'Anvils', '--confirm', 'Anvils', '--out', out)).code).toBe(0)
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ hookgate_export: 1 })
    expect((await cli('org', 'list')).stdout).not.toContain('Anvils')
  })

  it('give roles, and disable and enable accounts', async () => {
    expect((await cli('user', 'role', 'ann@corp.example', 'admin', '--org', 'Corp')).code).toBe(0)
    expect((await cli('user', 'role', 'ann@corp.example', 'system')).stderr).toContain('is a system administrator')
    expect(await cli('user', 'role', 'ann@corp.example', 'admin')).toMatchObject({ code: 2 })
    expect(await json('user', 'role', 'ann@corp.example', 'user')).toMatchObject({
      system_admin: false,
      orgs: [{ role: 'admin' }],
    })
    expect(await json('user', 'disable', 'ann@corp.example')).toMatchObject({ disabled: true })
    expect(await json('user', 'enable', 'ann@corp.example')).toMatchObject({ disabled: false })
  })

  it('say what is missing', async () => {
    expect(await cli('user', 'disable', 'nix@corp.example')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('hookgate user list'),
    })
    expect(await cli('org', 'suspend', 'Nix')).toMatchObject({ code: 1, stderr: expect.stringContaining('hookgate org list') })
    const single = await command(['org', 'list'], { cwd, env: data })
    expect(single).toMatchObject({ code: 1, stderr: expect.stringContaining('GATEWAY_MULTI_TENANT=true') })
  })
})
