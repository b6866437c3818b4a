// Runs the built command line as a child process, as a user does.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'

export const hookgateRoot = resolve(import.meta.dirname, '../../..')
const MAIN = join(hookgateRoot, 'dist/adapters/cli/main.js')

export interface Options {
  env?: Record<string, string>
  cwd?: string
  /** Standard input. */
  input?: string
}

export interface Finished {
  code: number | null
  stdout: string
  /** Without the marks around names, which are colours on a terminal and backticks in a pipe. */
  stderr: string
}

/** Runs a command to its end. */
export async function hookgate(args: string[], options: Options = {}): Promise<Finished> {
  await built()
  return run([MAIN, ...args], options)
}

/** Runs any script with node, to its end. */
export function run(args: string[], options: Options = {}): Promise<Finished> {
  return finished(start(args, options))
}

export interface Serving {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  stderr(): string
  readonly exited: Promise<Finished>
}

/** Starts `hookgate serve --port 0 …` and resolves when it listens. */
export async function serving(args: string[], options: Options = {}): Promise<Serving> {
  await built()
  return listening(start([MAIN, 'serve', '--port', '0', ...args], options), /^hookgate listening on (http:\/\/\S+:(\d+))\n/)
}

export async function listening(child: ChildProcess, line: RegExp): Promise<Serving> {
  let stdout = ''
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = finished(child)
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      stdout += chunk
      const found = line.exec(stdout)
      if (found !== null) resolve(found)
    })
    void exited.then(({ code }) => reject(new Error(`It ended with ${code} before it listened.\n${stdout}${stderr}`)))
  })
  return { url: match[1] as string, port: Number(match[2]), child, stderr: () => stderr, exited }
}

export function start(args: string[], { env = {}, cwd = hookgateRoot, input }: Options = {}): ChildProcess {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(GATEWAY_|DATABASE_URL|REDIS_URL|NODE_OPTIONS|VITEST)/.test(name),
  )
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', LC_ALL: 'C.UTF-8', GATEWAY_PRICING_SYNC_ENABLED: 'false', ...env },
  })
  if (input !== undefined) child.stdin.end(input)
  return child
}

function finished(child: ChildProcess): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr: stderr.replaceAll('`', '') })))
}

const folders: string[] = []

// Runs once for each test file that imports this, after all its other hooks.
afterAll(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
})

/** Creates a folder with these files; it is removed after the test file. */
export function folder(files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'hookgate-test-'))
  folders.push(path)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

/** `npm test` builds first. A single test file that runs alone must not test an old build. */
export async function built(): Promise<void> {
  const lock = join(tmpdir(), `hookgate-build-${Buffer.from(hookgateRoot).toString('hex').slice(-40)}`)
  // A running build has written some of its files already.
  const building = () => modified(lock) > Date.now() - 60_000
  while (building() || newest(['core', 'plugins', 'adapters']) > modified(join(hookgateRoot, 'dist/core/index.js'))) {
    // Test files run in parallel: one of them builds, the others wait.
    if (!building()) rmSync(lock, { recursive: true, force: true })
    try {
      mkdirSync(lock)
    } catch {
      await sleep(200)
      continue
    }
    await finished(start([join(hookgateRoot, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json']))
    await finished(start([join(hookgateRoot, 'scripts/bundle.mjs')]))
    rmSync(lock, { recursive: true, force: true })
    return
  }
}

function newest(folders: string[]): number {
  return Math.max(
    ...folders.flatMap((path) =>
      readdirSync(join(hookgateRoot, path), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => modified(join(hookgateRoot, path, name))),
    ),
  )
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
