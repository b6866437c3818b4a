// Bundles a module for Workers and serves it with workerd on a free port.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

/** @param bindings texts by name. `durable`: the class that the binding GATEWAY leads to. */
export async function startWorkerd(binary, { folder, entry, bindings = {}, durable = null }) {
  const outDir = join(folder, `bundle-${entry.replace(/\W/g, '-')}`)
  await bundle(folder, entry, outDir)
  writeFileSync(join(outDir, 'config.capnp'), configOf(bindings, durable))
  const child = spawn(binary, ['serve', join(outDir, 'config.capnp'), '--control-fd=3'], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const said = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)))
  const port = await new Promise((resolve, reject) => {
    child.stdio[3].on('data', (chunk) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) {
        const event = JSON.parse(line)
        if (event.event === 'listen') resolve(event.port)
      }
    })
    child.on('exit', () => reject(new Error(`workerd ended: ${said.join('')}`)))
  })
  return { url: `http://127.0.0.1:${port}`, output: () => said.join(''), stop: () => child.kill() }
}

async function bundle(root, entry, outDir) {
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true, target: 'webworker' },
    build: {
      ssr: entry,
      outDir,
      emptyOutDir: true,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        external: [/^node:/, 'cloudflare:workers'],
        output: { entryFileNames: 'worker.js', codeSplitting: false },
      },
    },
  })
}

function configOf(bindings, durable) {
  const texts = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`)
  if (durable !== null) texts.push(`(name = "GATEWAY", durableObjectNamespace = "${durable}")`)
  const objects = `durableObjectNamespaces = [(className = "${durable}", uniqueKey = "lane")], durableObjectStorage = (inMemory = void),`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [${texts.join(', ')}],
  ${durable === null ? '' : objects}
);
`
}
