// Lists the http(s) addresses that Gemini cannot read itself, and inlines their contents. It is pure; the core fetches, with its guard
// and limits.
import type { CanonicalRequest, Frozen, Message, Part, Source } from '../../../../core/types/request/canonical.ts'
import { passesAsUri } from '../media.ts'

export interface InlinedMedia {
  mime: string
  /** Base64. */
  data: string
}

/** Returns each address once, in order of appearance. */
export function remoteMedia(request: Frozen<CanonicalRequest>): string[] {
  const out = new Set<string>()
  const visit = (parts: readonly Frozen<Part>[]): void => {
    for (const part of parts) {
      const url = remoteUrl(part)
      if (url !== null) out.add(url)
      const inner = innerParts(part)
      if (inner !== null) visit(inner)
    }
  }
  for (const message of request.messages) visit(message.parts)
  return [...out]
}

/** Returns a copy with every address in `byUrl` replaced; unchanged parts are shared. */
export function inlineMedia(request: Frozen<CanonicalRequest>, byUrl: ReadonlyMap<string, InlinedMedia>): CanonicalRequest {
  const messages = request.messages.map((message) => {
    const parts = inlineParts(message.parts, byUrl)
    return (parts === message.parts ? message : { ...message, parts }) as Message
  })
  return { ...(request as CanonicalRequest), messages }
}

function inlineParts(parts: readonly Frozen<Part>[], byUrl: ReadonlyMap<string, InlinedMedia>): readonly Frozen<Part>[] {
  let changed = false
  const out = parts.map((part) => {
    const next = inlinePart(part, byUrl)
    changed ||= next !== part
    return next
  })
  return changed ? out : parts
}

function inlinePart(part: Frozen<Part>, byUrl: ReadonlyMap<string, InlinedMedia>): Frozen<Part> {
  const url = remoteUrl(part)
  const found = url === null ? undefined : byUrl.get(url)
  if (found !== undefined) {
    const declared = sourceOf(part)
    const generic = found.mime === '' || found.mime === 'application/octet-stream'
    const mime = (generic && declared !== null && 'mime' in declared && declared.mime) || found.mime
    return { ...part, src: { kind: 'base64', data: found.data, mime } } as Frozen<Part>
  }
  const inner = innerParts(part)
  if (inner === null) return part
  const next = inlineParts(inner, byUrl)
  if (next === inner) return part
  return (part.t === 'tool_result' ? { ...part, parts: next } : { ...part, src: { parts: next } }) as Frozen<Part>
}

function remoteUrl(part: Frozen<Part>): string | null {
  const src = sourceOf(part)
  const url = src?.kind === 'url' ? src.url : src?.kind === 'uri' ? src.uri : ''
  return /^https?:\/\//.test(url) && !passesAsUri(url) ? url : null
}

function sourceOf(part: Frozen<Part>): Frozen<Source> | null {
  return 'src' in part && 'kind' in part.src ? part.src : null
}

function innerParts(part: Frozen<Part>): readonly Frozen<Part>[] | null {
  if (part.t === 'tool_result') return part.parts
  return part.t === 'document' && 'parts' in part.src ? part.src.parts : null
}
