// `hookgate logs tail` when more requests end within a second than it reads.
import { afterEach, expect, it } from 'vitest'
import { follow } from '../../../adapters/cli/logs/follow.ts'
import type { LogRow, Page } from '../../../adapters/cli/logs/row.ts'

const PAGE = 200
let closed = false
afterEach(() => {
  closed = false
})

/** The reader of the output has gone, as with `| head`. */
function close(): void {
  if (!closed) process.stdout.emit('error', new Error('closed'))
  closed = true
}

/** @param coming number of rows that are new at the second look, the newest first. */
async function followed(coming: number): Promise<{ shown: number; missed: string[] }> {
  const all = Array.from({ length: coming }, (_, at) => rowAt(coming - at))
  let [shown, looks] = [0, 0]
  const missed: string[] = []
  await follow({
    first: 0,
    read: async ({ cursor }): Promise<Page> => {
      if (cursor === undefined) looks++
      if (looks === 1) return { data: [], next_cursor: null }
      if (looks === 3) close()
      const from = Number(cursor ?? 0)
      const next = from + PAGE
      return { data: all.slice(from, next), next_cursor: next < coming ? String(next) : null }
    },
    show: async () => void shown++,
    missed: (since) => void missed.push(since),
  })
  return { shown, missed }
}

function rowAt(second: number): LogRow {
  return { request_id: `req_${second}`, created_at: new Date(second * 1000).toISOString() } as LogRow
}

it('shows every row of a busy second', async () => {
  expect(await followed(2000)).toEqual({ shown: 2000, missed: [] })
})

it('says that it shows not all, once, with the time of the oldest that it shows', async () => {
  expect(await followed(2500)).toEqual({ shown: 2000, missed: [new Date(501 * 1000).toISOString()] })
})
