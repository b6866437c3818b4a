// A streamed answer that is only observed: nothing is held back, and the answer stays in its bytes.
import type { StreamTransform } from '../../core/types/stream.ts'
import type { Inspection } from './inspection.ts'
import { GuardedStream } from './output-stream.ts'

export function watchedStream(inspection: Inspection): StreamTransform {
  const guarded = new GuardedStream(inspection, null)
  return {
    passive: true,
    event: (event) => guarded.event(event, unheard),
    flush: () => guarded.flush(unheard),
  }
}

function unheard(): void {}
