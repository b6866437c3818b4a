// `hookgate apply` names its audit entries, and the server that takes up the changes.
import { expect, it } from 'vitest'
import { built, folder, serving } from './hookgate.ts'
import { command } from './in-process.ts'
import { onTerminal } from './pseudo-terminal.ts'

const file = (config: string) => folder({ 'gateway.config.ts': `export default ${config}` })
const KEYS = `{ keys: { ci: { label: 'ci' }, dev: { label: 'dev', secret: 'gw_a-secret-of-the-file-itself-0123456789' } } }`

it('enters each change in the audit log, and names the entries', async () => {
  const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_PORT: '0' }
  const made = await command(['apply', '--json'], { cwd: file(KEYS), env })
  expect(JSON.parse(made.stdout)).toMatchObject({ format: 1, data: [{ key: 'ci' }, { key: 'dev' }], audit: [1, 2], server: null })
  const cwd = file('{ keys: {} }')
  const gone = await command(['apply'], { cwd, env })
  expect(gone.stderr).toMatch(/2\/2 applied in \d+\.\d\d s · running servers see it within two seconds · audit entries 3 to 4\n$/)
  expect(await command(['apply', '--json'], { cwd, env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"audit": []'),
  })
  expect(await command(['audit', 'verify'], { cwd, env })).toMatchObject({
    stderr: expect.stringMatching(/Entries 1 to 4 are whole/),
  })
})

it('says how to see the secret of a key that has none in the file, and prints none into a pipe', async () => {
  const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_PORT: '0' }
  const cwd = file(KEYS)
  const plan = await command(['plan'], { cwd, env })
  expect(plan.stdout).toMatch(/^\+ create keys\.ci \(new; `apply` makes its secret and shows it on a terminal\)\n/m)
  expect(plan.stdout).toMatch(/^\+ create keys\.dev \(new\)\n/m)
  const { stdout, stderr } = await command(['apply'], { cwd, env })
  expect(stderr).toMatch(/ {2}key 1 \(ci\): hookgate key rotate 1 shows a secret\n$/)
  expect(stdout).not.toMatch(/gw_/)
})

it('shows it on a terminal', async (context) => {
  await built()
  const cwd = file(KEYS)
  const session = await onTerminal('apply --yes', [], { cwd, env: { GATEWAY_PORT: '0' } })
  if (session === null) return context.skip('no `script` on this machine')
  const [secret = ''] = /(?<=key 1 \(ci\), shown once: store it now\s+)gw_\w+/.exec(session.shown) ?? []
  const listed = await command(['key', 'list'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
  expect(listed.stdout).toMatch(new RegExp(`^1 +ci +…${secret.slice(-4)} `, 'm'))
  expect(secret).toMatch(/^gw_\w{47}$/)
}, 60_000)

/** A server without a file has this connection. */
const AND_ECHO = KEYS.replace('{', `{ connections: { echo: { provider: 'echo' } },`)

it('names the server that works on the database, with its generation, and no other one', async () => {
  const dataDir = folder({})
  const server = await serving([], { cwd: folder({}), env: { GATEWAY_DATA_DIR: dataDir } })
  try {
    const place = { GATEWAY_PORT: String(server.port) }
    const here = await command(['apply'], { cwd: file(AND_ECHO), env: { ...place, GATEWAY_DATA_DIR: dataDir } })
    expect(here.stderr).toContain(`${server.url} (gen 1) sees it within two seconds`)
    const { data } = (await (await fetch(`${server.url}/api/audit`)).json()) as { data: { details: object }[] }
    expect(data).toMatchObject([
      { actor: 'cli', action: 'config.create', target: 'keys.dev', details: { name: 'dev', changes: { label: { to: 'dev' } } } },
      { actor: 'cli', action: 'config.create', target: 'keys.ci' },
    ])
    expect(JSON.stringify(data)).not.toContain('a-secret-of-the-file')
    const elsewhere = await command(['apply'], { cwd: file(AND_ECHO), env: { ...place, GATEWAY_DATA_DIR: folder({}) } })
    expect(elsewhere.stderr).toContain('running servers see it within two seconds')
  } finally {
    server.child.kill('SIGKILL')
  }
}, 60_000)
