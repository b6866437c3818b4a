// `caps` of a connection in the API: the members of the file, in snake_case.
import { z } from 'zod'
import { connectionCaps } from '../../core/models/model-caps.ts'
import type { ConnectionCaps } from '../../core/types/provider.ts'

export const apiCaps = z
  .union([z.literal('none'), z.record(z.string().max(100), z.unknown())])
  .transform((given, context): ConnectionCaps => {
    const parsed = connectionCaps.safeParse(given === 'none' ? given : renamed(given, camel))
    if (parsed.success) return parsed.data
    const nested = parsed.error.issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flat() : [issue]))
    const issue = nested.find(({ path }) => path.length > 0) ?? nested.at(-1)
    const path = (issue?.path ?? []).map((step) => (typeof step === 'string' ? snake(step) : step))
    const unknown = issue?.code === 'unrecognized_keys' ? `has no member ${issue.keys.map(snake).join(', ')}` : issue?.message
    context.addIssue({ code: 'custom', path, message: unknown ?? 'is not valid' })
    return z.NEVER
  })

export function shownCaps(caps: ConnectionCaps | null): 'none' | Record<string, unknown> | null {
  return caps === null || caps === 'none' ? caps : renamed(caps, snake)
}

/** Two levels: `thinking` holds names too. */
function renamed(given: object, rename: (name: string) => string, depth = 0): Record<string, unknown> {
  const inner = (value: unknown) =>
    depth === 0 && typeof value === 'object' && value !== null && !Array.isArray(value) ? renamed(value, rename, 1) : value
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), inner(value)]))
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
