// Tunnels with programs of the test on PATH: what is refused, the public address, deaths, the end of the gateway, and a restart.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, type TestGateway } from '../../../adapters/testing/index.ts'
import { folder } from '../../adapters/cli/hookgate.ts'
import { goneProcess } from '../../support/ended-process.ts'
import { cheapHash } from '../sign-in/support.ts'

/** Prints as cloudflared does, and writes its pid and arguments beside itself. */
const CLOUDFLARED = `#!/bin/sh
[ "$1" = --version ] && echo 'cloudflared version 2026.1.0' && exit 0
here=$(dirname "$0")
echo $$ >> "$here/pids"
echo "$@" > "$here/args"
echo 'INF failed attempts ask https://api.trycloudflare.com/tunnel' >&2
[ -f "$here/broken" ] && echo 'ERR no edge is reachable, token=sk-1234567890abcdefghij' >&2 && exit 3
echo 'INF |  https://quick-fox.trycloudflare.com  |' >&2
exec sleep 600
`
const TAILSCALE = `#!/bin/sh
here=$(dirname "$0")
[ "$1" = status ] && { [ -f "$here/up" ] && echo '{"BackendState":"Running"}' || echo '{"BackendState":"NeedsLogin"}'; exit 0; }
echo $$ >> "$here/pids"
echo "$@" > "$here/args"
echo 'Available on the internet:'
echo 'https://laptop.tail1234.ts.net/'
exec sleep 600
`
const path = process.env.PATH
let bin: string
let hash: string
let t: TestGateway | null = null
let clock: FakeClock

beforeAll(async () => {
  hash = await cheapHash()
})
beforeEach(() => {
  bin = folder({ cloudflared: CLOUDFLARED, tailscale: TAILSCALE })
  for (const name of ['cloudflared', 'tailscale']) chmodSync(join(bin, name), 0o755)
  process.env.PATH = `${bin}:/usr/bin:/bin`
  clock = fakeClock(Date.now())
})
afterEach(async () => {
  await t?.close()
  t = null
})
afterAll(() => {
  process.env.PATH = path
})

const guarded = (): Record<string, string> => ({ REQUIRE_API_KEY: 'true', DASHBOARD_PASSWORD_HASH: hash })

async function start(env: Record<string, string> = guarded(), listens = true): Promise<TestGateway> {
  t = await createTestGateway({ env, ports: { clock } })
  if (listens) await t.listen()
  return t
}

interface Status {
  readonly state: string
  readonly available: boolean
  readonly running: boolean
  readonly url: string | null
  readonly pid: number | null
  readonly error: string | null
  readonly logged_in?: boolean
}

async function call(
  method: string,
  route: string,
  body?: object,
): Promise<{ status: number; body: Record<string, Status> & { error: { code: string; message: string } } }> {
  const request = new Request(`http://gateway.test${route}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const operator = { actor: 'test', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const
  const answer = await (t as TestGateway).gateway.control.fetch(request, { address: null, local: false, secure: true, operator })
  return { status: answer.status, body: (await answer.json()) as never }
}
const enable = (provider = 'cloudflare') => call('POST', '/api/tunnel/enable', { provider })
const disable = (provider = 'cloudflare') => call('POST', '/api/tunnel/disable', { provider })
const status = async (provider = 'cloudflare'): Promise<Status> =>
  (await call('GET', '/api/tunnel/status')).body[provider] as Status
const opened = (provider?: string) => expect.poll(async () => (await status(provider)).state).toBe('running')
const pids = (): number[] =>
  existsSync(join(bin, 'pids')) ? readFileSync(join(bin, 'pids'), 'utf8').trim().split('\n').map(Number) : []
const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it.each([
  ['without both', () => ({}), /GATEWAY_REQUIRE_API_KEY=true and GATEWAY_DASHBOARD_PASSWORD_HASH/],
  ['without required keys', () => ({ DASHBOARD_PASSWORD_HASH: hash }), /Set GATEWAY_REQUIRE_API_KEY=true first/],
  ['without a password', () => ({ REQUIRE_API_KEY: 'true' }), /Set GATEWAY_DASHBOARD_PASSWORD_HASH first/],
])('is refused %s', async (_name, env, message) => {
  await start(env() as Record<string, string>)
  for (const provider of ['cloudflare', 'tailscale'])
    expect(await enable(provider)).toEqual({
      status: 409,
      body: { error: expect.objectContaining({ code: 'tunnel_unguarded', message: expect.stringMatching(message) }) },
    })
  expect(pids()).toEqual([])
})

it('shows the address that the program prints, and passes it the address of the server', async () => {
  const { port } = await (await start()).listen()
  expect(await status()).toMatchObject({ available: true, state: 'off', running: false, url: null, pid: null })
  expect((await enable()).status).toBe(200)
  await opened()
  expect(await status()).toMatchObject({ running: true, url: 'https://quick-fox.trycloudflare.com', pid: pids()[0], error: null })
  expect(readFileSync(join(bin, 'args'), 'utf8')).toBe(`tunnel --no-autoupdate --url http://127.0.0.1:${port}\n`)
  expect((await enable()).status).toBe(200)
  expect(pids()).toHaveLength(1)
  expect((await disable()).body.cloudflare).toMatchObject({ state: 'off', url: null, pid: null })
  expect(lives(pids()[0] as number)).toBe(false)
})

it('opens tailscale funnel for those who are logged in', async () => {
  const { port } = await (await start()).listen()
  expect((await enable('tailscale')).body.error).toMatchObject({ code: 'not_logged_in' })
  writeFileSync(join(bin, 'up'), '')
  await enable('tailscale')
  await opened('tailscale')
  expect(await status('tailscale')).toMatchObject({ logged_in: true, url: 'https://laptop.tail1234.ts.net' })
  expect(readFileSync(join(bin, 'args'), 'utf8')).toBe(`funnel http://127.0.0.1:${port}\n`)
})

it('names the program that is missing, and the server that is missing', async () => {
  await start(guarded(), false)
  expect((await enable()).body.error).toMatchObject({ code: 'no_server' })
  await t?.listen()
  rmSync(join(bin, 'cloudflared'))
  expect(await status()).toMatchObject({ available: false })
  const { status: code, body } = await enable()
  expect([code, body.error.message]).toEqual([
    409,
    expect.stringMatching(/cloudflared is not installed\. Install cloudflared: https:/),
  ])
  expect((await call('POST', '/api/tunnel/enable', { provider: 'ngrok' })).status).toBe(400)
})

it('starts an ended child again, and gives up after five deaths with the reason, without secrets', async () => {
  await start()
  await enable()
  await opened()
  writeFileSync(join(bin, 'broken'), '')
  process.kill(pids()[0] as number, 'SIGKILL')
  for (let deaths = 1; deaths < 5; deaths++) {
    await expect.poll(async () => (await status()).state).toBe('waiting')
    expect(pids()).toHaveLength(deaths)
    await clock.advance(1000 * 2 ** (deaths - 1))
    await expect.poll(pids).toHaveLength(deaths + 1)
  }
  await expect.poll(async () => (await status()).state).toBe('failed')
  const { error, url } = await status()
  expect([error, url]).toEqual([expect.stringMatching(/^cloudflared ended with code 3: ERR no edge is reachable/), null])
  expect(error).not.toContain('sk-1234567890')
  await clock.advance('1h')
  expect(pids()).toHaveLength(5)
  rmSync(join(bin, 'broken'))
  await disable()
  await enable()
  await opened()
})

it('leaves no child when the gateway ends, and opens the tunnel again when it starts', async () => {
  const env = { ...guarded(), DATA_DIR: folder({}) }
  await start(env)
  await enable()
  await opened()
  await t?.close()
  expect(lives(pids()[0] as number)).toBe(false)
  const state = join(env.DATA_DIR, 'tunnel/state.json')
  expect(statSync(state).mode & 0o777).toBe(0o600)
  await start(env)
  await opened()
  expect(pids()).toHaveLength(2)
  await t?.close()
  // The guard holds for a tunnel that was on before.
  await start({ DATA_DIR: env.DATA_DIR, DASHBOARD_PASSWORD_HASH: hash })
  expect(await status()).toMatchObject({ state: 'off', error: expect.stringMatching(/GATEWAY_REQUIRE_API_KEY/) })
  expect(pids()).toHaveLength(2)
  await disable()
  await t?.close()
  await start(env)
  expect(await status()).toMatchObject({ state: 'off', error: null })
})

it('ends the child of a gateway that was killed, and no other process', async () => {
  const env = { ...guarded(), DATA_DIR: folder({}) }
  const owner = await goneProcess()
  // A script that goes on keeps the program's name; one that becomes `sleep` does not.
  writeFileSync(join(bin, 'cloudflared'), '#!/bin/sh\nwhile true; do sleep 0.1; done\n')
  const real = spawn(join(bin, 'cloudflared'), ['tunnel'], { stdio: 'ignore' })
  const ended = once(real, 'exit')
  const other = spawn('sleep', ['600'], { stdio: 'ignore' })
  mkdirSync(join(env.DATA_DIR, 'tunnel'))
  const gone = { enabled: false, owner: owner.pid }
  writeFileSync(
    join(env.DATA_DIR, 'tunnel/state.json'),
    JSON.stringify({ cloudflare: { ...gone, pid: real.pid }, tailscale: { ...gone, pid: other.pid } }),
  )
  await start(env)
  await ended
  expect(real.signalCode).toBe('SIGTERM')
  expect(other.exitCode ?? other.signalCode).toBeNull()
  other.kill('SIGKILL')
  owner.end()
})

it('does not exist in the cloud profile: 404 for every method, for system administrators too', async () => {
  await start({ ...guarded(), PROFILE: 'cloud' })
  for (const route of ['status', 'enable', 'disable', '', 'other'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, `/api/tunnel/${route}`, method === 'GET' ? undefined : { provider: 'cloudflare' })
      expect([method, route, answer.status, answer.body.error.code]).toEqual([method, route, 404, 'unknown_url'])
    }
})
