// What a filter has left out of a stream is missing behind it as well: a batch that it lets through must still go on with what went.
import { expect, it } from 'vitest'
import type { StreamEvent } from '../../../core/types/request/stream.ts'
import { streamShape } from '../../../plugins/wasm-filters/stream-shape.ts'

const place = { choice: 0, part: 0 }
const start: StreamEvent = { e: 'start', id: 'a', model: 'm', created: 0 }
const begin: StreamEvent = { e: 'part_start', ...place, kind: 'text', meta: {} }
const delta: StreamEvent = { e: 'delta', ...place, d: { text: 'x' } }
const stop: StreamEvent = { e: 'part_stop', ...place, full: { t: 'text', text: 'x' } }
const finish: StreamEvent = { e: 'finish', choice: 0, finish: 'stop', native: 'stop' }

it('what came goes through', () => {
  const shape = streamShape()
  for (const batch of [[start, begin], [delta], [stop, finish]]) expect(() => shape.passed(batch)).not.toThrow()
})

it('a part whose beginning was left out cannot go on', () => {
  const shape = streamShape()
  shape.replaced([start, begin], [start])
  expect(() => shape.passed([delta])).toThrow('comes out of order')
})

it('a part whose end was left out is open when the answer ends', () => {
  const shape = streamShape()
  shape.passed([start, begin])
  shape.replaced([delta, stop], [delta])
  expect(() => shape.passed([finish])).toThrow('part 0 is never ended')
})
