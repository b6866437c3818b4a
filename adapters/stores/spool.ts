// Stores units on disk during a database outage: JSON lines in numbered segments, each append fsynced before it resolves. A segment is
// renamed before it is read. A process that still writes to it detects that and writes again elsewhere, so a unit may be returned twice
// but is never lost.
import { closeSync, existsSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool, SpooledUnit } from '../../core/types/ports/db.ts'
import { Mutex } from './mutex.ts'

/** Reserved space that is released when the disk is full, so that the ledger can still write. */
const RESERVE_BYTES = 8 * 1024 * 1024

/** Number of units passed on at a time. */
const BATCH = 100

interface Segment {
  path: string
  file: FileHandle
  size: number
}

export interface FileSpool extends Spool {
  /** Closes the current segment; its units stay. A later append begins another one. */
  close(): Promise<void>
}

/** @param dir created with mode 0700 when missing. @param reserveBytes default 8 MiB; 0: none. */
export function fileSpool(dir: string, reserveBytes = RESERVE_BYTES): FileSpool {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const reserve = join(dir, 'reserve')
  const mutex = new Mutex()
  let segment: Segment | null = null

  keepReserve(reserve, reserveBytes)

  const finishSegment = async () => {
    await segment?.file.close()
    segment = null
  }

  const write = async (bytes: Uint8Array): Promise<void> => {
    for (;;) {
      segment ??= await newSegment(dir)
      try {
        await segment.file.write(bytes, 0, bytes.length, segment.size)
        await segment.file.datasync()
      } catch (error) {
        // Only the last line of a segment may be torn.
        const torn = segment
        await torn.file.truncate(torn.size).catch(() => {})
        await finishSegment()
        throw error
      }
      segment.size += bytes.length
      if (await isStill(segment)) return
      await finishSegment()
    }
  }

  return {
    append: (units) =>
      mutex.hold(async () => {
        const bytes = new TextEncoder().encode(units.map((unit) => `${encode(unit)}\n`).join(''))
        try {
          await write(bytes)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC' || !existsSync(reserve)) throw error
          await rm(reserve)
          await write(bytes)
        }
      }),

    drain: (apply) =>
      mutex.hold(async () => {
        await finishSegment()
        let count = 0
        for (const name of readdirSync(dir)
          .filter((entry) => /^\d+\.(jsonl|draining)$/.test(entry))
          .sort(byNumber)) {
          const path = join(dir, name.replace('.jsonl', '.draining'))
          // Another process that drains the same directory may have taken it.
          if (name.endsWith('.jsonl') && !(await isThere(rename(join(dir, name), path)))) continue
          const text = await readFile(path, 'utf8').catch(nullIfGone)
          if (text === null) continue
          const { units, damaged } = parse(text)
          for (let i = 0; i < units.length; i += BATCH) await apply(units.slice(i, i + BATCH))
          count += units.length
          if (damaged) await isThere(rename(path, path.replace('.draining', '.damaged')))
          else await rm(path, { force: true })
        }
        keepReserve(reserve, reserveBytes)
        return count
      }),

    close: () => mutex.hold(finishSegment),
  }
}

/** Returns null for a file that does not exist. @throws any other error. */
function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** Returns false when the file of the operation does not exist. */
async function isThere(operation: Promise<void>): Promise<boolean> {
  return (await operation.then(() => true).catch(nullIfGone)) ?? false
}

async function newSegment(dir: string): Promise<Segment> {
  const last = Math.max(0, ...readdirSync(dir).map((name) => Number.parseInt(name, 10) || 0))
  for (let number = last + 1; ; number++) {
    const path = join(dir, `${String(number).padStart(12, '0')}.jsonl`)
    try {
      const file = await open(path, 'wx', 0o600)
      syncDirectory(dir)
      return { path, file, size: 0 }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Returns false when another process has taken the segment to replay it. */
async function isStill(segment: Segment): Promise<boolean> {
  try {
    return (await stat(segment.path)).ino === (await segment.file.stat()).ino
  } catch {
    return false
  }
}

function syncDirectory(dir: string): void {
  const handle = openSync(dir, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function keepReserve(path: string, bytes: number): void {
  if (bytes === 0 || existsSync(path)) return
  const handle = openSync(path, 'w', 0o600)
  try {
    // Written, not only sized, because a sparse file reserves no space.
    writeSync(handle, new Uint8Array(bytes))
  } catch {
    ftruncateSync(handle, 0)
  } finally {
    closeSync(handle)
  }
}

const byNumber = (a: string, b: string) => Number.parseInt(a, 10) - Number.parseInt(b, 10)

function encode(unit: SpooledUnit): string {
  return JSON.stringify(
    unit.map(({ sql, expect }) => ({
      text: sql.text,
      params: sql.params.map((param) =>
        param instanceof Uint8Array ? { base64: Buffer.from(param).toString('base64') } : param,
      ),
      expect,
    })),
  )
}

interface Line {
  text: string
  params: unknown[]
  expect?: number
}

/** The last line of a segment may be torn; such a unit was never acknowledged. */
function parse(text: string): { units: SpooledUnit[]; damaged: boolean } {
  const units: SpooledUnit[] = []
  let damaged = false
  const lines = text.split('\n')
  lines.forEach((line, i) => {
    if (line === '') return
    try {
      units.push((JSON.parse(line) as Line[]).map(decode))
    } catch {
      damaged ||= i < lines.length - 1
    }
  })
  return { units, damaged }
}

function decode({ text, params, expect }: Line): SpooledUnit[number] {
  const values = params.map((param) =>
    typeof param === 'object' && param !== null ? Buffer.from((param as { base64: string }).base64, 'base64') : param,
  )
  return { sql: { text, params: values }, expect }
}
