// Turns the sections of docs/hosts.md into files that run: with a free port, and a connection to the scripted upstream.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const PAGE = resolve(import.meta.dirname, '../../docs/hosts.md')
/** Next says that its callers are not local, so that they need a client key. */
export const CLIENT_KEY = 'stranger-client-key-0123456789'
const START_MS = 90_000

const APP_MODULE = `import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
class Pages {
  hello() {
    return 'Hello'
  }
}
Controller()(Pages)
Get()(Pages.prototype, 'hello', Object.getOwnPropertyDescriptor(Pages.prototype, 'hello'))
export class AppModule {}
Module({ controllers: [Pages] })(AppModule)
`

const single = (name, packages, more = {}) => ({ name, packages, files: more, command: () => ['main.mjs'] })

/** `packages`: the first one is the host. `build` runs before `command`. */
export const HOSTS = [
  single('node:http', []),
  single('Express', ['express']),
  single('Fastify', ['fastify']),
  single('Hono', ['hono', '@hono/node-server']),
  single('h3', ['h3']),
  single('srvx', ['srvx']),
  single('Koa', ['koa']),
  single('NestJS', ['@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'express', 'reflect-metadata', 'rxjs'], {
    'app.module.js': APP_MODULE,
  }),
  {
    name: 'Next',
    packages: ['next', 'react', 'react-dom'],
    files: {},
    build: ['../node_modules/next/dist/bin/next', 'build'],
    command: (port) => ['../node_modules/next/dist/bin/next', 'start', '-p', port, '-H', '127.0.0.1'],
  },
]

/** Resolves when the host answers. @returns { url, output, stop } */
export async function startHost(host, folder, baseUrl) {
  const cwd = join(folder, `host-${host.name.replace(/\W/g, '-')}`)
  rmSync(cwd, { recursive: true, force: true })
  for (const [path, text] of Object.entries({ ...filesOf(host), ...host.files })) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }\n')
  const port = String(await freePort())
  const config = {
    connections: { up: { provider: 'custom', wireFormat: 'chat', baseUrl } },
    keys: { stranger: { secret: CLIENT_KEY } },
  }
  const env = { ...process.env, NODE_ENV: 'production', PORT: port, STRANGER_CONFIG: JSON.stringify(config) }
  if (host.build !== undefined) execFileSync(process.execPath, host.build, { cwd, env, stdio: 'pipe', timeout: 240_000 })
  const child = spawn(process.execPath, host.command(port), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const running = { url: `http://127.0.0.1:${port}`, output: () => output, stop: () => child.kill() }
  const until = performance.now() + START_MS
  while (performance.now() < until && child.exitCode === null) {
    const answer = await fetch(`${running.url}/llm/healthz`).catch(() => null)
    if (answer?.status === 200) return running
    await sleep(100)
  }
  child.kill()
  throw new Error(`${host.name} did not start.\n${output.slice(-2000)}`)
}

/** Returns texts by path: a block whose first line names a file, otherwise the one module. */
function filesOf({ name }) {
  const section = readFileSync(PAGE, 'utf8').split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? ''
  const blocks = [...section.matchAll(/^```[jt]s\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  if (blocks.length === 0) throw new Error(`docs/hosts.md has no module for ${name}.`)
  return Object.fromEntries(
    blocks.map((code) => [
      /^\/\/ ([\w./[\]-]+\.m?js)/.exec(code)?.[1] ?? 'main.mjs',
      code
        .replace(/createGateway\(\{.*\}\)/, 'createGateway(JSON.parse(process.env.STRANGER_CONFIG))')
        .replace('8788', 'Number(process.env.PORT)'),
    ]),
  )
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
