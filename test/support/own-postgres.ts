// A PostgreSQL server of the test's own, where its binaries are on the machine: it can be stopped and started.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'

export interface OwnPostgres {
  readonly url: string
  start(): Promise<void>
  /** `immediate`: as a crash would. */
  stop(): Promise<void>
  remove(): Promise<void>
}

/** Null when the machine has no server binaries. Not started yet. */
export async function ownPostgres(): Promise<OwnPostgres | null> {
  const bin = binaries()
  if (bin === null) return null
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-pg-'))
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  if (user.uid !== undefined) chownSync(dir, user.uid, user.gid)
  const data = join(dir, 'data')
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'], {
    ...user,
    cwd: dir,
    stdio: 'pipe',
  })
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let server: ChildProcess | null = null

  const stop = async (signal: NodeJS.Signals) => {
    const running = server
    server = null
    if (running === null || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await ended
  }

  return {
    url,
    async start() {
      const options = ['-D', data, '-p', String(port), '-k', dir, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off']
      const started = spawn(join(bin, 'postgres'), options, { ...user, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
      server = started
      let said = ''
      started.stderr.on('data', (chunk) => (said += chunk))
      await answering(url).catch((cause) => {
        throw new Error(`PostgreSQL did not start: ${said}`, { cause })
      })
    },
    stop: () => stop('SIGQUIT'),
    async remove() {
      await stop('SIGQUIT')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function binaries(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : []
  const folders = [...versions, ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null
}

async function answering(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('SELECT 1')
      return
    } catch (error) {
      if (attempt === 300) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end().catch(() => {})
    }
  }
}
