// The command line in an empty folder: packages by name, plan, apply, reload, check, doctor. Each step has its own time limit.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './hosts.mjs'
import { PACKAGES } from './place.mjs'

const STEP_MS = 60_000

const config = ({ baseUrl, deployment, models }) => `import { defineConfig, preset } from 'hookgate'

export default defineConfig({
  plugins: [
    ...preset(),
    { plugin: 'hookgate-plugin-stamp', options: { deployment: '${deployment}' } },
    'hookgate-plugin-figures',
    { plugin: 'hookgate-provider-small', options: { baseUrl: '${baseUrl}' } },
  ],
  connections: { small: { provider: 'small', apiKey: 'small-key-1' } },
  virtualModels: { ${models.map((name) => `${name}: { strategy: 'failover', targets: [{ model: 'small/whole' }] }`).join(', ')} },
})
`

/** @returns [{ command, ms, fault }] */
export async function walkCommands(folder, baseUrl, say) {
  const cwd = join(folder, 'commands')
  rmSync(cwd, { recursive: true, force: true })
  mkdirSync(cwd, { recursive: true })
  const write = (more) => writeFileSync(join(cwd, 'gateway.config.ts'), config({ baseUrl, ...more }))
  const port = await freePort()
  const main = join(folder, 'node_modules/hookgate/dist/adapters/cli/main.js')
  const hookgate = (...args) => run(main, args, { cwd, port })
  const done = []
  const step = async (command, fn) => {
    const from = performance.now()
    const fault = await fn().then(
      () => null,
      (error) => String(error.message),
    )
    done.push({ command, ms: Math.round(performance.now() - from), fault })
    say(`${fault === null ? 'ok' : 'FAILS'}  ${command}`)
  }
  const first = { deployment: 'blue', models: ['fast'] }
  write(first)

  await step('`hookgate plugins` names the three packages', async () => {
    const { code, stdout } = await hookgate('plugins', '--json')
    assert.equal(code, 0, stdout)
    const sources = JSON.stringify(JSON.parse(stdout))
    for (const name of PACKAGES) assert.ok(sources.includes(name), `${name} is missing: ${sources.slice(0, 500)}`)
  })
  for (const name of PACKAGES) {
    const options = { 'hookgate-plugin-stamp': '{"deployment":"x"}', 'hookgate-provider-small': `{"baseUrl":"${baseUrl}"}` }[name]
    await step(`\`hookgate plugin check\` of ${name}`, async () => {
      const place = join(folder, 'node_modules', name)
      const { code, stdout } = await hookgate('plugin', 'check', '--folder', place, ...(options ? ['--options', options] : []))
      assert.equal(code, 0, stdout)
    })
  }
  await step('`hookgate plan` shows the changes and exits 3', async () => {
    const { code, stdout } = await hookgate('plan')
    assert.equal(code, 3, stdout)
    assert.match(stdout, /small/)
  })
  await step('`hookgate apply` makes them', async () => {
    const { code, stdout } = await hookgate('apply')
    assert.equal(code, 0, stdout)
  })
  await step('`hookgate plan` after it exits 0', async () => {
    const { code, stdout } = await hookgate('plan')
    assert.equal(code, 0, stdout)
  })
  await step('a wrong option is refused by `plan`, with its name', async () => {
    write({ ...first, deployment: '' })
    const { code, stderr, stdout } = await hookgate('plan')
    assert.equal(code, 1, stdout + stderr)
    assert.match(stdout + stderr, /deployment/)
    write(first)
  })

  const server = await serve(main, { cwd, port })
  try {
    const ask = (model) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Count.' }] }),
      })
    await step('`hookgate serve` answers through the package’s provider, with the stamp', async () => {
      const answer = await ask('fast')
      assert.equal(answer.status, 200, await answer.clone().text())
      assert.equal(answer.headers.get('x-deployment'), 'blue')
    })
    await step('a saved file is in use for the next requests, and an unchanged plugin keeps its state', async () => {
      write({ deployment: 'green', models: ['fast', 'second'] })
      let answer
      for (let round = 0; round < 100 && answer?.headers.get('x-deployment') !== 'green'; round++) {
        await sleep(100)
        answer = await ask('fast')
        assert.equal(answer.status, 200)
      }
      assert.equal(answer.headers.get('x-deployment'), 'green')
      assert.equal((await ask('second')).status, 200)
      const { data } = await (await fetch(`${server.url}/api/figures`)).json()
      assert.ok(data.find(({ model }) => model === 'fast').answers >= 2, JSON.stringify(data))
    })
    await step('a syntax error keeps the last configuration', async () => {
      writeFileSync(join(cwd, 'gateway.config.ts'), 'export default {')
      await sleep(1000)
      assert.equal((await ask('second')).status, 200)
      write(first)
    })
    await step('`hookgate doctor` asks the running server', async () => {
      const { code, stdout } = await hookgate('doctor')
      assert.equal(code, 0, stdout)
      assert.match(stdout, new RegExp(String(port)), stdout)
    })
  } catch (error) {
    done.push({ command: '`hookgate serve`', ms: 0, fault: String(error.message) })
  } finally {
    await server.stop()
  }
  return done
}

function run(main, args, place) {
  const child = start(main, args, place)
  const timer = setTimeout(() => child.kill('SIGKILL'), STEP_MS)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].on('data', (chunk) => (texts[name] += chunk))
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...texts })
    }),
  )
}

/** @returns { url, stop } */
async function serve(main, place) {
  const child = start(main, ['serve', '--log', 'json'], place)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  for (let round = 0; round < 600; round++) {
    const url = /^hookgate listening on (http:\/\/\S+:\d+)/m.exec(stdout)?.[1]
    if (url !== undefined)
      return {
        url,
        stop() {
          child.kill()
          return ended
        },
      }
    if (child.exitCode !== null) break
    await sleep(100)
  }
  child.kill()
  throw new Error(`hookgate serve did not listen.\n${stdout}${stderr}`)
}

function start(main, args, { cwd, port }) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(GATEWAY_|DATABASE_URL|REDIS_URL)/.test(name)))
  return spawn(process.execPath, [main, ...args], {
    cwd,
    env: {
      ...env,
      NO_COLOR: '1',
      GATEWAY_PRICING_SYNC_ENABLED: 'false',
      GATEWAY_DATA_DIR: join(cwd, 'data'),
      GATEWAY_PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
