// Finds ids of what a vendor stores in canonical requests and answers: items of a response, containers and files of tools.
import type { CanonicalRequest, Frozen, Json, Part } from '../../core/types/request/canonical.ts'

export type VendorIdKind = 'response' | 'conversation' | 'item' | 'container' | 'file'
export type OnId = (kind: VendorIdKind, id: string) => void

type Fields = Readonly<Record<string, Frozen<Json>>>

/** A deeper value names nothing that a vendor reads. */
const MAX_DEPTH = 32

const MEMBERS: Readonly<Record<string, VendorIdKind>> = {
  container_id: 'container',
  container: 'container',
  file_id: 'file',
  file_ids: 'file',
}

/** Reports each id that a request refers to. */
export function idsOfRequest({ state, messages, tools }: Frozen<CanonicalRequest>, on: OnId): void {
  if (state?.container !== undefined) idsIn({ container: state.container }, on)
  for (const tool of tools) if (tool.t === 'server') idsIn(tool.raw, on)
  for (const { parts } of messages) for (const part of parts) idsOfSent(part, on)
}

function idsOfSent(part: Frozen<Part>, on: OnId): void {
  if ('src' in part) {
    if ('parts' in part.src) for (const inner of part.src.parts) idsOfSent(inner, on)
    else if ('kind' in part.src && part.src.kind === 'file') on('file', part.src.id)
  } else if (part.t === 'tool_result') for (const inner of part.parts) idsOfSent(inner, on)
  else if (part.t === 'server_tool') idsIn(part.raw, on)
  else if (part.t === 'opaque') {
    const type = fieldOf(part.raw, 'type') ?? 'item_reference'
    const id = fieldOf(part.raw, 'id')
    if (type === 'item_reference' && typeof id === 'string') on('item', id)
    idsIn(part.raw, on)
  }
}

/** Reports each id of what a part of an answer created. */
export function idsOfAnswer(part: Frozen<Part>, on: OnId): void {
  const item = 'itemId' in part ? part.itemId : part.ext?.responses?.item
  if (typeof item === 'string') on('item', item)
  if (part.t === 'text') for (const { raw } of part.annotations ?? []) idsIn(raw, on)
  if (part.t !== 'server_tool' && part.t !== 'opaque') return
  const id = part.dialect === 'responses' ? fieldOf(part.raw, 'id') : null
  if (typeof id === 'string') on('item', id)
  idsIn(part.raw, on)
}

/** Members that hold one id, a list of ids, or an object with an id. */
export function idsIn(value: Frozen<Json>, on: OnId, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  if (Array.isArray(value)) {
    for (const one of value) idsIn(one, on, depth + 1)
    return
  }
  for (const [name, member] of Object.entries(value as Fields)) {
    const kind = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined
    for (const one of kind === undefined ? [] : [member].flat()) {
      const id = idOf(one as Frozen<Json>)
      if (id !== null) on(kind as VendorIdKind, id)
    }
    idsIn(member, on, depth + 1)
  }
}

/** Returns a text, or the id of an object. */
export function idOf(value: Frozen<Json> | undefined): string | null {
  const id = typeof value === 'string' ? value : fieldOf(value, 'id')
  return typeof id === 'string' ? id : null
}

function fieldOf(value: Frozen<Json> | undefined, name: string): Frozen<Json> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return (value as Fields)[name]
}
