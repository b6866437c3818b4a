// Finds prompt content outside the request, stored at the vendor or behind a URL, so that its length is unknown. Returns the member's
// name for the error.
import type { CanonicalRequest, Frozen, Json, Part } from '../../../core/types/request/canonical.ts'

/** Longest video that offsets can describe, seconds; longer than any model accepts. */
const MAX_SECONDS = 86_400

/** Returns null when the request contains the whole prompt, or the kind of content has a known maximum size. */
export function unknownPrompt({ state, ext, system, messages, tools }: Frozen<CanonicalRequest>): string | null {
  if (state?.previousResponseId !== undefined) return 'previous_response_id'
  if (state?.conversation !== undefined) return 'conversation'
  if (state?.promptTemplate !== undefined) return 'prompt'
  if (state?.thread !== undefined) return 'thread'
  if (state?.container !== undefined) return 'container'
  const google = ext.generate_content
  if (google?.cachedContent !== undefined) return 'cachedContent'
  for (const tool of tools) if (tool.t === 'server' && namesFiles(tool.raw)) return 'tools'
  for (const { parts } of system) if (lieElsewhere(parts)) return 'system'
  for (const { parts } of messages) if (lieElsewhere(parts)) return 'messages'
  return null
}

/** Returns the seconds that a request selects from a video; null when it does not set both ends. */
export function clipSeconds(meta: Frozen<Json> | undefined): number | null {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return null
  const fields = meta as Readonly<Record<string, Frozen<Json>>>
  // More frames per second cost more tokens.
  if ((fields.fps ?? 1) !== 1) return null
  const start = secondsOf(fields.startOffset ?? fields.start_offset ?? '0s')
  const end = secondsOf(fields.endOffset ?? fields.end_offset)
  if (start === null || end === null || !(end > start)) return null
  return Math.min(end - start, MAX_SECONDS)
}

function secondsOf(value: Frozen<Json> | undefined): number | null {
  const found = typeof value === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(value) : null
  return found === null ? null : Number(found[1])
}

function lieElsewhere(parts: readonly Frozen<Part>[]): boolean {
  return parts.some((part) => {
    if (part.t === 'tool_result') return lieElsewhere(part.parts)
    if (part.t === 'opaque' || part.t === 'server_tool') return namesFiles(part.raw)
    if (part.t === 'document') return 'parts' in part.src ? lieElsewhere(part.src.parts) : isElsewhere(part.src)
    if (part.t === 'video') return isElsewhere(part.src) && clipSeconds(part.meta) === null
    // Vendors count an image by its area, up to a maximum.
    return part.t === 'audio' && (isElsewhere(part.src) || part.id !== undefined)
  })
}

function isElsewhere(source: object): boolean {
  return 'kind' in source && source.kind !== 'base64'
}

const NAMES: ReadonlySet<string> = new Set(['file_id', 'file_ids', 'fileUri', 'file_uri', 'vector_store_ids', 'container'])

/** Also matches an item that refers to an earlier response. */
function namesFiles(raw: Frozen<Json>): boolean {
  if (typeof raw !== 'object' || raw === null) return false
  if (Array.isArray(raw)) return raw.some((entry: Frozen<Json>) => namesFiles(entry))
  const fields = raw as Readonly<Record<string, Frozen<Json>>>
  if (fields.type === 'item_reference') return true
  return Object.entries(fields).some(([name, value]) =>
    NAMES.has(name) ? typeof value === 'string' || (Array.isArray(value) && value.length > 0) : namesFiles(value),
  )
}
