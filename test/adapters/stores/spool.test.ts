// The spool on disk: survives a crash, in order; a torn line is not a unit; a full disk uses the reserve.
import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileSpool, fileSpool as openSpool } from '../../../adapters/stores/spool.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Spool, SpooledUnit } from '../../../core/types/ports/db.ts'

let root: string
let dir: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hookgate-'))
  dir = join(root, 'spool')
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((spool) => spool.close()))
  rmSync(root, { recursive: true })
})

const opened: FileSpool[] = []
const fileSpool = (...of: Parameters<typeof openSpool>): FileSpool => {
  const spool = openSpool(...of)
  opened.push(spool)
  return spool
}

const unit = (n: number): SpooledUnit => [{ sql: sql`INSERT INTO t VALUES (${n})`, expect: 1 }, { sql: sql`SELECT ${null}` }]
const numbers = (units: readonly SpooledUnit[]) => units.map(([first]) => first?.sql.params[0])
const drained = async (spool: Spool) => {
  const seen: unknown[] = []
  const count = await spool.drain(async (units) => void seen.push(...numbers(units)))
  expect(count).toBe(seen.length)
  return seen
}
/** Returns files of a directory that this process has open. */
const openIn = (path: string) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path)
    } catch {
      return false
    }
  })
const segments = () => readdirSync(dir).filter((name) => name !== 'reserve')

describe('the spool', () => {
  it('gives units back in order, across processes, once', async () => {
    const spool = fileSpool(dir, 0)
    await Promise.all([spool.append([unit(1), unit(2)]), spool.append([unit(3)])])
    await fileSpool(dir, 0).append([unit(4)])
    const next = fileSpool(dir, 0)
    expect(await drained(next)).toEqual([1, 2, 3, 4])
    expect(await drained(next)).toEqual([])
    expect(segments()).toEqual([])
  })

  it('keeps statements, values and expectations', async () => {
    const spool = fileSpool(dir, 0)
    const written: SpooledUnit = [
      { sql: sql`INSERT INTO t VALUES (${'é\n"'}, ${null}, ${1.5}, ${new Uint8Array([0, 255])})`, expect: 1 },
      { sql: sql`DELETE FROM t` },
    ]
    await spool.append([written])
    await spool.drain(async ([read]) => {
      expect(read?.map(({ sql, expect }) => [sql.text, [...sql.params], expect])).toEqual([
        [written[0]?.sql.text, ['é\n"', null, 1.5, Buffer.from([0, 255])], 1],
        ['DELETE FROM t', [], undefined],
      ])
    })
  })

  // Other systems do not show the open files of a process.
  it.skipIf(process.platform !== 'linux')('lets go of its file when it is closed, and its units stay', async () => {
    const spool = fileSpool(dir, 0)
    await spool.append([unit(1)])
    expect(openIn(dir)).toHaveLength(1)
    await spool.close()
    expect(openIn(dir)).toEqual([])
    await spool.append([unit(2)])
    expect(await drained(spool)).toEqual([1, 2])
  })

  it('is private', async () => {
    await fileSpool(dir, 10).append([unit(1)])
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600)
  })

  it('keeps everything when it cannot be applied', async () => {
    const spool = fileSpool(dir, 0)
    await spool.append([unit(1), unit(2)])
    await expect(spool.drain(() => Promise.reject(new Error('still gone')))).rejects.toThrow('still gone')
    await spool.append([unit(3)])
    expect(await drained(spool)).toEqual([1, 2, 3])
  })

  it('drops a torn last line, and sets a segment aside that is damaged elsewhere', async () => {
    await fileSpool(dir, 0).append([unit(1)])
    appendFileSync(join(dir, segments()[0] as string), '[{"text":"INSERT')
    await fileSpool(dir, 0).append([unit(2)])
    expect(await drained(fileSpool(dir, 0))).toEqual([1, 2])
    expect(segments()).toEqual([])
    writeFileSync(join(dir, '000000000009.jsonl'), 'not json\n')
    await fileSpool(dir, 0).append([unit(3)])
    expect(await drained(fileSpool(dir, 0))).toEqual([3])
    expect(segments()).toEqual(['000000000009.damaged'])
  })

  it('a process that another one overtakes writes again elsewhere', async () => {
    const slow = fileSpool(dir, 0)
    await slow.append([unit(1)])
    expect(await drained(fileSpool(dir, 0))).toEqual([1])
    await slow.append([unit(2)])
    expect(await drained(fileSpool(dir, 0))).toEqual([2])
  })

  it('holds a reserve of real blocks', () => {
    fileSpool(dir)
    const { size, blocks } = statSync(join(dir, 'reserve'))
    expect(size).toBe(8 * 1024 * 1024)
    expect(blocks * 512).toBeGreaterThanOrEqual(size)
  })
})
