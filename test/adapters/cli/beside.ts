// Runs commands beside a server on the same database, with a client key that the server accepts. Call it once per file.
import { afterAll, beforeAll, expect } from 'vitest'
import { bearer } from '../../plugins/keys/support.ts'
import { ask, eventually, post } from '../node/support.ts'
import { type Finished, folder, type Serving, serving } from './hookgate.ts'
import { command } from './in-process.ts'

export interface Beside {
  readonly cwd: string
  readonly env: Record<string, string>
  /** The server's address; read it while the server runs. */
  readonly url: string
  cli(...args: string[]): Promise<Finished>
  /** Returns what a command prints with `--json`; the command must succeed. */
  json<T>(...args: string[]): Promise<T>
  /** Returns the control plane's answer; it must not be a refusal. */
  api<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Returns the status of a chat request with this client key. */
  called(key: string, model?: string): Promise<number>
  /** Creates a client key that the server already accepts. */
  key(label: string): Promise<{ id: number; key: string }>
}

/** @param variables further environment variables of server and commands. */
export function besideServer(variables: Record<string, string> = {}): Beside {
  const cwd = folder({})
  const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_PRICING_SYNC_ENABLED: 'false', ...variables }
  let server: Serving
  beforeAll(async () => {
    server = await serving([], { cwd, env })
    // When the file runs alone, it builds first.
  }, 60_000)
  afterAll(() => {
    server.child.kill('SIGKILL')
  })
  const cli: Beside['cli'] = (...args) => command(args, { cwd, env })
  const json: Beside['json'] = async (...args) => {
    const { code, stdout, stderr } = await cli(...args, '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout)
  }
  const called: Beside['called'] = async (key, model = 'echo/echo-1') =>
    (await post(server.url, ask('chat', model), { headers: bearer(key) })).status
  return {
    cwd,
    env,
    get url() {
      return server.url
    },
    cli,
    json,
    async api(method, path, body) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const response = await fetch(server.url + path, { method, ...sent })
      expect(response.status, path).toBeLessThan(300)
      return response.json()
    },
    called,
    async key(label) {
      const made = await json<{ id: number; key: string }>('key', 'create', '--label', label)
      await eventually(async () => (await called(made.key)) === 200)
      return made
    },
  }
}
