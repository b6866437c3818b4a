// The lines below the address: for a person who starts the gateway on a terminal, and for no program that reads its output.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder, type Options, serving } from './hookgate.ts'

const CONFIG = `import { defineConfig, pin } from 'hookgate'
export default defineConfig({
  connections: { main: { provider: 'echo' } },
  settings: { 'breaker.failure_threshold': pin(7) },
})
`

/** Returns the output of a gateway from its start to its end. */
async function started(
  args: string[],
  options: Options,
  until: RegExp,
): Promise<{ stdout: string; stderr: string; url: string }> {
  const server = await serving(args, options)
  try {
    await expect.poll(() => server.stderr()).toMatch(until)
    await expect.poll(async () => (await fetch(`${server.url}/healthz`)).status).toBe(200)
  } finally {
    server.child.kill('SIGTERM')
  }
  return { ...(await server.exited), url: server.url }
}

it('hookgate serve tells a person where the dashboard is, what holds, and what to do next', async () => {
  const cwd = folder({ 'gateway.config.ts': CONFIG })
  const data = join(cwd, 'data')
  const { stdout, stderr, url } = await started(['--log', 'pretty'], { cwd, env: { GATEWAY_DATA_DIR: data } }, /^ {2}next/m)
  expect(stdout).toBe(`hookgate listening on ${url}\n`)
  const lines = stderr.split('\n').filter((line) => /^ {2}\w/.test(line))
  expect(lines).toEqual([
    `  dashboard  ${url}/   open to this computer: no password set (hookgate password hash)`,
    expect.stringMatching(/^ {2}state {6}local · SQLite in \S+ · \d+ migrations applied · ready in \d+\.\d\d s$/),
    expect.stringMatching(
      /^ {2}config {5}gateway\.config\.ts · 1 connection \(echo\) · 0 keys · 1 setting pinned · \d+ plugins, gen 1$/,
    ),
    expect.stringMatching(/^ {2}next {7}hookgate init {5}or {5}curl http:\S+\/v1\/chat\/completions .*"model":"echo\/echo-1"/),
  ])
  expect(lines[1]).toContain(data)
})

it('hookgate serve tells a program the address only, and logs', async () => {
  const cwd = folder({ 'gateway.config.ts': CONFIG })
  const { stdout, stderr, url } = await started([], { cwd, env: { GATEWAY_DATA_DIR: join(cwd, 'data') } }, /^/)
  expect(stdout).toBe(`hookgate listening on ${url}\n`)
  for (const line of stderr.split('\n').filter(Boolean)) expect(JSON.parse(line)).toBeTypeOf('object')
})
