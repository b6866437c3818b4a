// Write-behind: when a batch is written, and what happens when rows arrive faster than they can be written.
import { beforeEach, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { BatchWriter, type BatchWriterOptions } from '../../../core/db/batch-writer.ts'
import { recordingLog } from '../../support/recording-log.ts'

let clock: FakeClock
let log: ReturnType<typeof recordingLog>
let written: number[][]

beforeEach(() => {
  clock = fakeClock()
  log = recordingLog()
  written = []
})

const writer = (options: Partial<BatchWriterOptions<number>> = {}) =>
  new BatchWriter<number>({
    name: 'test log',
    clock,
    log,
    write: async (rows) => void written.push(rows),
    ...options,
  })

describe('a batch goes out', () => {
  it('after 50 ms', async () => {
    const rows = writer()
    rows.push(1)
    rows.push(2)
    await clock.advance(49)
    expect(written).toEqual([])
    await clock.advance(1)
    expect(written).toEqual([[1, 2]])
    expect(clock.pending).toBe(0)
  })

  it('at 200 rows', async () => {
    const rows = writer()
    for (let i = 0; i < 450; i++) rows.push(i)
    await clock.advance(0)
    expect(written.map((batch) => batch.length)).toEqual([200, 200, 50])
  })

  it('at 4 MiB', async () => {
    const rows = writer()
    for (let i = 0; i < 3; i++) rows.push(i, 3 << 20)
    await clock.advance(0)
    expect(written).toEqual([[0], [1], [2]])
  })

  it('on flush and on close, after which rows are dropped', async () => {
    const rows = writer()
    rows.push(1)
    await rows.flush()
    rows.push(2)
    await rows.close()
    expect(written).toEqual([[1], [2]])
    expect(rows.push(3)).toBe(false)
    expect(rows.dropped).toBe(1)
  })
})

describe('under pressure', () => {
  it('keeps up to its bounds and counts the rest', async () => {
    let release = () => {}
    const hang = () =>
      new Promise<void>((resolve) => {
        release = resolve
      })
    const rows = writer({ maxRows: 1, maxQueuedRows: 3, write: hang })
    const taken = [1, 2, 3, 4, 5, 6].map((row) => rows.push(row))
    expect(taken).toEqual([true, true, true, true, false, false])
    expect([rows.depth, rows.dropped]).toEqual([3, 2])
    for (let i = 0; i < 4; i++) {
      release()
      await clock.advance(0)
    }
    expect(rows.depth).toBe(0)
  })

  it('bounds the bytes in memory', () => {
    const rows = writer({ maxQueuedBytes: 100, maxBytes: 1000 })
    expect([rows.push(1, 60), rows.push(2, 60), rows.push(3, 40)]).toEqual([true, false, true])
  })
})

describe('when the store fails', () => {
  it('tries a batch once more', async () => {
    let failures = 1
    const rows = writer({
      write: async (batch) => {
        if (failures-- > 0) throw new Error('locked')
        written.push(batch)
      },
    })
    rows.push(1)
    await clock.advance('2s')
    expect([written, rows.dropped, log.lines]).toEqual([[[1]], 0, []])
  })

  it('drops, says so once, and says when it is over', async () => {
    let broken = true
    const rows = writer({
      write: async (batch) => {
        if (broken) throw new Error('disk full')
        written.push(batch)
      },
    })
    for (let i = 0; i < 3; i++) {
      rows.push(i)
      await clock.advance('2s')
    }
    expect(rows.dropped).toBe(3)
    broken = false
    rows.push(9)
    await clock.advance('2s')
    expect(written).toEqual([[9]])
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info'])
  })
})
