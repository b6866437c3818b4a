// `npm run release`, served under /dl/ and installed by its own script: the installed gateway answers, and a changed file is refused.
import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { built, folder, hookgateRoot, listening, run } from '../../adapters/cli/hookgate.ts'

let t: TestGateway
let out: string
let url: string
beforeAll(async () => {
  await built()
  out = folder({})
  const { code, stderr } = await run([join(hookgateRoot, 'scripts/release.mjs'), '--out', out])
  expect([code, stderr]).toEqual([0, ''])
  t = await createTestGateway({ env: { DIST_DIR: out } })
  url = `http://127.0.0.1:${(await t.listen()).port}/dl`
})
afterAll(() => t.close())

interface Installed {
  readonly code: number
  readonly text: string
  readonly prefix: string
}

/** As `curl -fsSL <url>/install.sh | sh` does. */
async function install(prefix: string, environment: Record<string, string> = {}): Promise<Installed> {
  const script = await (await fetch(`${url}/install.sh`)).text()
  writeFileSync(join(prefix, 'install.sh'), script)
  const env = {
    PATH: process.env.PATH,
    HOME: prefix,
    HOOKGATE_PREFIX: prefix,
    HOOKGATE_URL: url,
    HOOKGATE_NODE: process.execPath,
    ...environment,
  }
  return promisify(execFile)('sh', [join(prefix, 'install.sh')], { env })
    .then(({ stdout }) => ({ code: 0, text: stdout, prefix }))
    .catch(({ code, stderr }) => ({ code, text: stderr, prefix }))
}

it('installs the release of this platform, and the installed gateway answers from an empty environment', async () => {
  const { code, text, prefix } = await install(folder({}))
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/^hookgate \S+ is installed: .*\/bin\/hookgate\nAdd .*\/bin to PATH\.\n$/),
  ])
  const { version, files } = JSON.parse(readFileSync(join(out, 'latest.json'), 'utf8'))
  expect(files.map(({ os, arch }: { os: string; arch: string }) => [os, arch])).toContainEqual([null, null])
  expect(existsSync(join(prefix, `lib/hookgate-${version}/lib/hookgate/node_modules`))).toBe(true)
  const env = { PATH: '/usr/bin:/bin', HOME: prefix, HOOKGATE_NODE: process.execPath, GATEWAY_PRICING_SYNC_ENABLED: 'false' }
  const child = spawn(join(prefix, 'bin/hookgate'), ['serve', '--port', '0'], { cwd: prefix, env })
  const server = await listening(child, /^hookgate listening on (http:\/\/\S+:(\d+))\n/)
  const body = JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hello' }] })
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ object: 'chat.completion' })])
  // With the embedded database.
  expect(existsSync(join(prefix, '.local/share/hookgate'))).toBe(true)
  const page = await fetch(server.url, { headers: { accept: 'text/html' } })
  expect(page.headers.get('content-type')).toMatch(/html/)
  child.kill('SIGTERM')
  expect((await server.exited).code).toBe(0)
  // Again, over the same installation.
  expect((await install(prefix)).code).toBe(0)
}, 120_000)

it('installs nothing from a file with another sha256, an unknown platform, and without Node', async () => {
  const latest = readFileSync(join(out, 'latest.json'), 'utf8')
  const changed = JSON.parse(latest)
  for (const file of changed.files) file.sha256 = '0'.repeat(64)
  writeFileSync(join(out, 'latest.json'), JSON.stringify(changed))
  const wrong = await install(folder({}))
  expect([wrong.code, wrong.text]).toEqual([
    1,
    expect.stringMatching(/has the sha256 \w{64} instead of 0{64}\. Nothing was installed/),
  ])
  expect(existsSync(join(wrong.prefix, 'bin/hookgate'))).toBe(false)
  for (const file of changed.files) file.os = 'plan9'
  writeFileSync(join(out, 'latest.json'), JSON.stringify(changed))
  expect((await install(folder({}))).text).toMatch(/there is no release for this platform/)
  writeFileSync(join(out, 'latest.json'), latest)
  expect((await install(folder({}), { HOOKGATE_NODE: 'no-such-node' })).text).toMatch(/Node 20\.19 or newer is needed/)
  expect((await install(folder({}), { HOOKGATE_URL: '' })).text).toMatch(/set HOOKGATE_URL/)
}, 120_000)
