// Reads and writes files with key bytes: written completely or not at all, readable only by the owner, and refused otherwise.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { parseKey } from './key-text.ts'

/** The file of the next key, until the database is wrapped under it. */
export const nextPath = (path: string): string => `${path}.next`

export interface KeyFileRules {
  /** The variable that names the file, for errors. */
  readonly variable: string
  /** True: others must not read the directory; false: they must only not write it. */
  readonly privateDirectory: boolean
}

/** Returns null when there is none. @throws Error naming variable, path and fix. */
export async function readKeyFile(path: string, rules: KeyFileRules): Promise<Buffer | null> {
  const refuse = (what: string): Error => new Error(`${rules.variable}: ${path} ${what}`)
  let real: string
  try {
    real = await realpath(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw refuse(`cannot be read (${codeOf(error)}). Give the gateway's user access to it.`)
  }
  const directory = await realpath(dirname(path))
  // A mounted secret links to a file in its directory. A target outside is not protected by the directory's mode.
  if (!real.startsWith(directory + sep)) throw refuse('is a link out of its directory. Name the file itself.')
  await checkDirectory(directory, rules)
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw refuse(`cannot be read (${codeOf(error)}). Give the gateway's user access to it.`)
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw refuse('is not a file. Name a file with the 32-byte master key.')
    if (POSIX && (found.mode & 0o077) !== 0)
      throw refuse(`can be read or written by others (mode ${octal(found.mode)}). Run: chmod 600 ${path}`)
    if (found.size > MAX_BYTES) throw refuse('is too long for a key. It must hold 32 bytes: raw, base64 or hex.')
    return parseKey(await file.readFile(), `${rules.variable}: ${path}`)
  } finally {
    await file.close()
  }
}

/** Creates the file with `key`, or keeps the existing one; returns its content. The directory is created with mode 0700. */
export async function createKeyFile(path: string, key: Uint8Array, rules: KeyFileRules): Promise<Buffer> {
  const directory = dirname(path)
  const draft = join(directory, `.${randomUUID()}.tmp`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await checkDirectory(directory, rules)
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${Buffer.from(key).toString('base64')}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    // Unlike a rename, a link never replaces a key that another process has just created.
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
    await unlink(draft)
    await syncDirectory(directory)
  } catch (error) {
    if (codeOf(error) === '') throw error
    throw new Error(`${rules.variable}: ${path} cannot be made (${codeOf(error)}). Make the directory writable for the gateway.`)
  }
  return (await readKeyFile(path, rules)) as Buffer
}

export async function replaceKeyFile(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncDirectory(dirname(to))
}

const MAX_BYTES = 1024
const POSIX = process.platform !== 'win32'
const STICKY = 0o1000

async function checkDirectory(directory: string, { variable, privateDirectory }: KeyFileRules): Promise<void> {
  if (!POSIX) return
  const { mode } = await stat(directory)
  if (privateDirectory && (mode & 0o077) !== 0)
    throw new Error(
      `${variable}: the directory ${directory} of the master key is open to others (mode ${octal(mode)}). Run: chmod 700 ${directory}`,
    )
  if ((mode & 0o022) !== 0 && (mode & STICKY) === 0)
    throw new Error(
      `${variable}: others can replace files in ${directory}, where the master key is (mode ${octal(mode)}). Run: chmod go-w ${directory}`,
    )
}

async function syncDirectory(directory: string): Promise<void> {
  if (!POSIX) return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}
