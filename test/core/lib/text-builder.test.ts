import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartWriter } from '../../../core/stream/part-writer.ts'
import { TextBuilder } from '../../../core/text/text-builder.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('A text that arrives in pieces', () => {
  it('is the pieces in order, however long each is', () => {
    const piece = fc.tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(800)).map(([text, times]) => text.repeat(times))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        const built = new TextBuilder()
        for (const each of pieces) built.add(each)
        expect(built.toString()).toBe(pieces.join(''))
      }),
    )
  })

  it('keeps a streamed answer of 20,000 short deltas in a few bytes a character', () => {
    const writers = Array.from({ length: 20 }, () => new PartWriter())
    const ignore = (_: StreamEvent): void => {}
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let at = 0; at < 20_000; at++) {
      for (const writer of writers) writer.text(0, JSON.parse(`"${String(at).padStart(5, '0')}"`) as string, ignore)
    }
    collectGarbage()
    const each = (process.memoryUsage().heapUsed - before) / writers.length
    expect(each).toBeLessThan(300_000)
    const wholes: StreamEvent[] = []
    writers[0]?.closeAll(0, (event) => wholes.push(event))
    expect(wholes).toMatchObject([{ e: 'part_stop', full: { t: 'text' } }])
    expect(JSON.stringify(wholes).length).toBeGreaterThan(100_000)
  })
})
