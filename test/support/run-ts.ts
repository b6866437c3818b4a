// A TypeScript file of the tests as a process of its own.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))

/** @param file in test/support/children. */
export function runTs(file: string, ...args: string[]): ChildProcessByStdio<null, Readable, Readable> {
  const path = fileURLToPath(new URL(`./children/${file}`, import.meta.url))
  return spawn(process.execPath, [JITI, path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** What it printed; rejects with its stderr when it fails. */
export function outputOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`exit ${code}: ${err}`))))
  })
}
