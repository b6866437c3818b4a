// Counts the finished images of a stream, and keeps what their events say about them.
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isError, usageAt } from '../shared/events.ts'

const COMPLETED = /"type"\s*:\s*"image_(?:generation|edit)\.completed"/

export interface ImageEvents {
  seen(event: string): void
  /** Number of finished images. */
  completed(): number
  /** True: the vendor ended the stream with an error. */
  failed(): boolean
  usage(): Json | undefined
  /** `size` and `quality` of the last finished image. */
  made(): JsonObject
}

export function imageEvents(): ImageEvents {
  let completed = 0
  let failed = false
  let usage: Json | undefined
  let made: JsonObject = {}
  return {
    seen(event) {
      if (isError(event)) failed = true
      if (!COMPLETED.test(event)) return
      completed++
      usage = usageAt(event) ?? usage
      made = { size: textAt(event, 'size'), quality: textAt(event, 'quality') }
    },
    completed: () => completed,
    failed: () => failed,
    usage: () => usage,
    made: () => made,
  }
}

function textAt(text: string, name: string): string {
  return new RegExp(`"${name}"\\s*:\\s*"([a-z0-9]{1,20})"`).exec(text)?.[1] ?? ''
}
