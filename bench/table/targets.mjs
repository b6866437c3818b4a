// The processes that bench/table.mjs and bench/effect.mjs compare. Each is pinned to CPU 0.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untilWorkers } from '../harness/workers.mjs'

const PORTKEY = { name: '@portkey-ai/gateway', version: '1.15.2' }
/** With a later version, Portkey 1.15.2 answers each stream with status 500. */
const HONO_NODE_SERVER = '1.13.7'
const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * @param nodes executables of Node; the first one also runs the worker processes and the peer
 * @param upstream address of the mock
 * @param folder a temporary directory
 * @param workers how many worker processes the last gateway has; 0 or 1: no such target
 */
export function targetsOf({ nodes, upstream, folder, workers, peers }) {
  let port = 9210
  const list = nodes.flatMap((node) => {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    return [
      { ...bare({ node, version, port: port++, upstream }), bareOf: version },
      gateway({ node, version, port: port++, upstream, folder, title: 'kernel', config: 'kernel' }),
      gateway({ node, version, port: port++, upstream, folder, title: 'everything on', config: 'gateway' }),
    ]
  })
  const first = { node: nodes[0], version: list[0].version, upstream, folder }
  if (workers > 1)
    list.push(gateway({ ...first, port: port++, title: `everything on, ${workers} workers`, config: 'gateway', workers }))
  if (peers) list.push(portkey({ ...first, port: port++ }))
  return list
}

function bare({ node, version, port, upstream }) {
  return {
    title: 'bare',
    version,
    port,
    model: 'openai/mock',
    command: [node, at('../harness/anchors/bare.mjs')],
    env: { PORT: port, UPSTREAM: upstream },
  }
}

/** @param without names of plugins to leave out, for the configuration `gateway` */
export function gateway({ node, version, port, upstream, folder, title, config, workers = 1, without = '' }) {
  return {
    ...{ title, version, port, workers, model: 'openai/mock' },
    command: [
      ...[node, '--max-semi-space-size=64', at('../../dist/adapters/cli/main.js'), 'serve', '--port', String(port)],
      ...['--config', at(`../${config}.config.mjs`), '--data-dir', join(folder, `data-${port}`)],
    ],
    env: {
      ...{
        BENCH_UPSTREAM: upstream,
        BENCH_WITHOUT: without,
        GATEWAY_PRICING_SYNC_ENABLED: 'false',
        GATEWAY_WORKERS: String(workers),
      },
      // A busy machine would otherwise make it refuse requests, and the figure meaningless.
      GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0',
    },
  }
}

/** Portkey does not translate messages to chat for a custom host. */
function portkey({ node, version, port, upstream, folder }) {
  const { name } = PORTKEY
  const place = join(folder, 'portkey')
  mkdirSync(place)
  writeFileSync(
    join(place, 'package.json'),
    JSON.stringify({ private: true, overrides: { '@hono/node-server': HONO_NODE_SERVER } }),
  )
  process.stderr.write(`installing ${name}@${PORTKEY.version}\n`)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${PORTKEY.version}`], { cwd: place, stdio: 'ignore' })
  return {
    ...{ title: `${name} ${PORTKEY.version}`, version, port, model: 'mock', lacks: ['messages → chat'] },
    command: [node, join(place, 'node_modules', name, 'build/start-server.js'), `--port=${port}`, '--headless'],
    headers: ['x-portkey-provider: openai', `x-portkey-custom-host: ${upstream}/v1`, 'Authorization: Bearer sk-bench'],
    env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  }
}

/** Starts a target and returns when it answers. */
export async function started(target) {
  const child = spawn('taskset', ['-c', '0', ...target.command], {
    stdio: 'ignore',
    env: { ...process.env, NODE_ENV: 'production', ...target.env },
  })
  const url = `http://127.0.0.1:${target.port}`
  await listening(url)
  if (target.workers > 1) await untilWorkers(url, target.workers)
  return { ...target, child, url }
}

async function listening(url) {
  for (let tries = 0; tries < 400; tries++) {
    try {
      await fetch(`${url}/healthz`)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`Nothing listens on ${url} after 20 seconds.`)
}
