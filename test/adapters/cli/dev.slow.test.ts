// `hookgate dev` on a terminal: an edited plugin beside a running stream, a syntax error, Ctrl-C, HTTPS, a port in use.
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { get } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { built, folder, hookgateRoot } from './hookgate.ts'

/** A vendor that streams what the test tells it to. */
const streams: ServerResponse[] = []
const vendor = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  streams.push(response)
})
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

beforeAll(async () => {
  vendor.listen(0, '127.0.0.1')
  await Promise.all([once(vendor, 'listening'), built()])
})
afterAll(() => {
  vendor.closeAllConnections()
  vendor.close()
})

const plugin = (word: string): string => `import { definePlugin, GatewayError } from 'hookgate'
import { said } from './said.ts'
export default definePlugin({
  name: 'ours',
  setup(gateway) {
    gateway.hook('access', (ctx) => {
      if (ctx.requestedModel === 'echo/ask') throw GatewayError.forbidden(said('${word}'))
    })
    gateway.hook('request', (ctx) => {
      ctx.userId = 'user of ${word}'
    })
  },
})
`

interface Session {
  readonly url: string
  shown(): string
  press(keys: string): void
  /** Closes the terminal. */
  hangUp(): void
  readonly ended: Promise<void>
}

/** On a busy machine a start takes long. */
const PATIENT = { timeout: 60_000 }

async function session(
  cwd: string,
  flags: string,
  first = /watching .*\n/,
  more: NodeJS.ProcessEnv = {},
  name = 'dev',
): Promise<Session> {
  const env = {
    ...process.env,
    ...more,
    NO_COLOR: '1',
    GATEWAY_DATA_DIR: join(cwd, 'data'),
    GATEWAY_PRICING_SYNC_ENABLED: 'false',
  }
  const command = `${process.execPath} ${hookgateRoot}/dist/adapters/cli/main.js ${name} --config ${cwd}/gateway.config.ts ${flags}`
  const child = execFile('script', ['-qec', `stty cols 200 rows 50; exec ${command}`, '/dev/null'], { cwd, env })
  let text = ''
  child.stdout?.on('data', (data) => {
    text += data
  })
  const ended = once(child, 'close').then(() => undefined)
  const shown = (): string => stripVTControlCharacters(text).replaceAll('\r', '')
  await expect.poll(shown, PATIENT).toMatch(first)
  return {
    get url() {
      return /hookgate listening on (\S+)/.exec(shown())?.[1] as string
    },
    shown,
    press: (keys) => void child.stdin?.write(keys),
    hangUp: () => void child.kill('SIGKILL'),
    ended,
  }
}

function project(): string {
  const { port } = vendor.address() as AddressInfo
  const cwd = folder({
    'gateway.config.ts': `import { defineConfig, preset } from 'hookgate'
export default defineConfig({
  connections: {
    echo: { provider: 'echo' },
    vendor: { provider: 'vendor', baseUrl: 'http://127.0.0.1:${port}/v1', wireFormat: 'chat' },
  },
  plugins: [...preset(), './plugins/ours.ts'],
})
`,
  })
  mkdirSync(join(cwd, 'plugins'))
  writeFileSync(join(cwd, 'plugins/said.ts'), `export const said = (word: string): string => 'said ' + word\n`)
  writeFileSync(join(cwd, 'plugins/ours.ts'), plugin('first'))
  return cwd
}

const ask = (url: string, model: string, stream = false): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  })
const word = async (url: string): Promise<string> =>
  ((await (await ask(url, 'echo/ask')).json()) as { error: { message: string } }).error.message

it('an edited plugin serves the next request, while a running stream ends whole; a syntax error keeps the last good code', async () => {
  const cwd = project()
  const { url, shown, press, ended } = await session(cwd, '--port 0 --verbose')
  expect(await word(url)).toBe('said first')
  const answer = await ask(url, 'vendor/m', true)
  const body = answer.text()
  await expect.poll(() => streams.length, PATIENT).toBe(1)
  streams[0]?.write(chunk({ role: 'assistant', content: 'one ' }))

  writeFileSync(join(cwd, 'plugins/ours.ts'), plugin('second'))
  await expect.poll(() => word(url), PATIENT).toBe('said second')
  writeFileSync(join(cwd, 'plugins/said.ts'), `export const said = (word: string): string => 'now ' + word\n`)
  await expect.poll(() => word(url), PATIENT).toBe('now second')

  const before = shown().length
  writeFileSync(join(cwd, 'plugins/ours.ts'), `${plugin('third')}\nexport const broken = (\n`)
  await expect
    .poll(() => shown().slice(before), PATIENT)
    .toMatch(/not loaded .*The plugin `\.\/plugins\/ours\.ts` could not be loaded/)
  await expect
    .poll(() => shown().slice(before), PATIENT)
    .toMatch(/plugins\/ours\.ts:\d+:\d+\n[\s\S]*export const broken = \([\s\S]*\^/)
  expect(await word(url)).toBe('now second')

  streams[0]?.end(`${chunk({ content: 'two' })}${chunk({}, 'stop')}data: [DONE]\n\n`)
  const events = (await body).split('\n\n')
  expect(events.flatMap((event) => /"content":"(\w+ ?)"/.exec(event)?.[1] ?? [])).toEqual(['one ', 'two'])
  expect(events.at(-2)).toBe('data: [DONE]')
  // The stream began with the first code.
  await expect.poll(shown, PATIENT).toMatch(/200 {2}POST \/v1\/chat\/completions {2}vendor\/m → vendor\/m/)
  await expect.poll(shown, PATIENT).toMatch(/request +ours +[\d.]+ ms +\+userId: "user of first"/)
  expect(shown()).toMatch(/403 {2}POST \/v1\/chat\/completions {2}echo\/ask .*permission.*: now second/)

  press('\u0003')
  await ended
  expect(execFileSync('ps', ['-axo', 'args'], { encoding: 'utf8' })).not.toContain(cwd)
}, 120_000)

it('serves HTTPS with a certificate of its own, prints the address for each SDK, and takes the next port', async () => {
  const cwd = project()
  const { port } = vendor.address() as AddressInfo
  const { url, shown, press, ended } = await session(cwd, `--port ${port} --https`)
  expect(url).toMatch(/^https:/)
  expect(Number(new URL(url).port)).toBeGreaterThan(port)
  const status = await new Promise<number | undefined>((resolve, reject) =>
    get(`${url}/healthz`, { rejectUnauthorized: false }, ({ statusCode }) => resolve(statusCode)).on('error', reject),
  )
  expect(status).toBe(200)
  for (const line of [`OpenAI     baseURL: '${url}/v1'`, `Anthropic  baseURL: '${url}'`, `baseUrl: '${url}'`, 'AI SDK'])
    expect(shown()).toContain(line)
  press('\u0003')
  await ended
}, 120_000)

/** Programs of a desktop that write down what they got. */
function desktop(cwd: string): NodeJS.ProcessEnv {
  const bin = join(cwd, 'bin')
  mkdirSync(bin)
  for (const [name, script] of [
    ['xdg-open', `echo "$1" > ${cwd}/opened`],
    ['xsel', `cat > ${cwd}/copied`],
  ] as const)
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: `${bin}:${process.env.PATH}`, WAYLAND_DISPLAY: '' }
}

it.runIf(process.platform === 'linux')(
  'opens the dashboard and copies the address, or says why it could not',
  async () => {
    const cwd = project()
    const read = (name: string): string => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8').trim() : '')
    const first = await session(cwd, '--port 0 --open --clipboard', /watching .*\n/, desktop(cwd))
    await expect.poll(() => read('opened'), PATIENT).toBe(`${first.url}/`)
    expect(read('copied')).toBe(first.url)
    expect(first.shown()).toContain(`copied     ${first.url}`)
    first.press('\u0003')
    await first.ended

    rmSync(join(cwd, 'bin'), { recursive: true })
    mkdirSync(join(cwd, 'bin'))
    for (const name of ['script', 'stty', 'which'])
      symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(cwd, 'bin', name))
    const second = await session(cwd, '--port 0 --open --clipboard', /dev\.not_opened/, {
      PATH: join(cwd, 'bin'),
      WAYLAND_DISPLAY: '',
    })
    expect(second.shown()).toMatch(/dev\.not_copied .*\n +On Linux, install xsel/)
    expect(second.shown()).not.toMatch(/copied +http/)
    expect(await word(second.url)).toBe('said first')
    second.press('\u0003')
    await second.ended
  },
  180_000,
)

it.each(['dev', 'serve', 'serve --workers 2'])('%s ends when its terminal is closed', async (name) => {
  const cwd = project()
  const { url, hangUp } = await session(cwd, '--port 0', /hookgate listening on .*\n/, {}, name)
  expect(await word(url)).toBe('said first')
  hangUp()
  const running = (): string => execFileSync('ps', ['-axo', 'args'], { encoding: 'utf8' })
  await expect.poll(running, PATIENT).not.toContain(cwd)
}, 180_000)

it('serves an ordinary request of a client that offers HTTP/2 with it', async () => {
  const { url, press, ended } = await session(project(), '--port 0')
  const body = JSON.stringify({ model: 'echo/ask', messages: [{ role: 'user', content: 'Hello' }] })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const offer = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${offer}`
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 403 /)
  socket.destroy()
  press('\u0003')
  await ended
}, 120_000)

it('a broken file at the start is shown, and the server starts when it is whole', async () => {
  const cwd = project()
  writeFileSync(join(cwd, 'plugins/ours.ts'), `${plugin('first')}\nexport const broken = (\n`)
  const opened = await session(cwd, '--port 0', /The server starts when a file changes/)
  expect(opened.shown()).toMatch(/plugins\/ours\.ts:\d+:\d+\n[\s\S]*export const broken = \(/)
  writeFileSync(join(cwd, 'plugins/ours.ts'), plugin('first'))
  await expect.poll(opened.shown, PATIENT).toMatch(/watching .*\n/)
  expect(await word(opened.url)).toBe('said first')
  opened.press('\u0003')
  await opened.ended
}, 120_000)
