// Serves the built gateway in a separate process on a free port. Callers can kill it and call its control plane.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/adapters/cli/main.js', import.meta.url))

/**
 * @param dir its data directory
 * @param config its configuration file; none: the default configuration
 * @param env further variables
 * @param flags of node
 * @param cpu the CPU that it is pinned to; none: any
 * @param ipc whether its process accepts messages
 */
export async function startGateway({ dir, config, env = {}, flags = [], cpu, ipc = false }) {
  const served = [...flags, main, 'serve', '--port', '0', '--data-dir', dir, ...(config ? ['--config', config] : [])]
  const command = [...(cpu === undefined ? [] : ['taskset', '-c', String(cpu)]), process.execPath, ...served]
  const child = spawn(command[0], command.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
    env: { ...process.env, GATEWAY_PRICING_SYNC_ENABLED: 'false', ...env },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-4000)
  })
  const url = await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const found = /listening on (\S+)/.exec(text)
      if (found) resolve(found[1])
    })
    child.once('exit', (code) => reject(new Error(`The gateway ended with ${code} before it listened.\n${text}${said}`)))
  })
  const api = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const ended = new Promise((resolve) => child.once('exit', resolve))
  return { child, url, api, ended }
}
