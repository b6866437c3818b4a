// Schemas that the routes of the playground share.
import { z } from 'zod'
import type { ShownRequest } from '../../core/types/playground.ts'

export const DIALECTS = ['chat', 'messages', 'responses', 'generate_content'] as const
export const dialect = z.enum(DIALECTS)
export const body = z
  .record(z.string(), z.unknown())
  .describe('A request of the dialect. `model` and `stream` are members of it in every dialect.')

export const shown = z.strictObject({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()).describe('Values of headers that are not known to be public are `***`.'),
  body: z.unknown(),
})

/** Returns the members of the schema. */
export function shownOf({ method, url, headers, body }: ShownRequest): z.input<typeof shown> {
  return { method, url, headers: { ...headers }, body }
}
