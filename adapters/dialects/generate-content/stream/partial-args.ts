// Joins Vertex's streamed function-call arguments: fragments addressed by JSON path become one object.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Json, JsonObject, Signature } from '../../../../core/types/request/canonical.ts'
import { isObject, listField } from '../fields.ts'

/** A larger array index is a broken stream. */
const MAX_INDEX = 10_000

export interface PartialCall {
  readonly name: string
  readonly id: string | null
  readonly signature: Signature | undefined
  add(fragments: Json | undefined): void
  /** Returns the object so far as JSON text. */
  args(): string
}

export function partialCall(
  name: string,
  id: string | null,
  signature: Signature | undefined,
  whole: Json | undefined,
): PartialCall {
  const root = new Map<string | number, Node>()
  const start = isObject(whole) ? whole : null
  return {
    name,
    id,
    signature,
    add(fragments) {
      for (const fragment of listField(fragments)) if (isObject(fragment)) put(root, fragment)
    },
    args() {
      const built = toJson(root) as JsonObject
      return JSON.stringify(start === null ? built : { ...start, ...(isObject(built) ? built : {}) })
    },
  }
}

/** Maps instead of objects: a path is text from the model, and `__proto__` is an ordinary key in a Map. */
type Node = Map<string | number, Node> | string | number | boolean | null

function put(root: Map<string | number, Node>, fragment: JsonObject): void {
  const path = segments(typeof fragment.jsonPath === 'string' ? fragment.jsonPath : '$')
  const last = path.pop()
  if (last === undefined) return
  let at = root
  for (const segment of path) {
    const next = at.get(segment)
    if (next instanceof Map) at = next
    else {
      const made = new Map<string | number, Node>()
      at.set(segment, made)
      at = made
    }
  }
  if (typeof fragment.stringValue === 'string') {
    const before = at.get(last)
    // A string arrives in pieces under one path.
    at.set(last, typeof before === 'string' ? before + fragment.stringValue : fragment.stringValue)
  } else if (typeof fragment.numberValue === 'number') at.set(last, fragment.numberValue)
  else if (typeof fragment.boolValue === 'boolean') at.set(last, fragment.boolValue)
  else if ('nullValue' in fragment) at.set(last, null)
}

/** "$.a[0]['b c']" → ["a", 0, "b c"]. */
function segments(path: string): (string | number)[] {
  const out: (string | number)[] = []
  for (const match of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g)) {
    if (match[2] === undefined) out.push(match[1] ?? (match[3] ?? (match[4] as string)).replace(/\\(.)/g, '$1'))
    else {
      const index = Number(match[2])
      if (index > MAX_INDEX) throw GatewayError.protocol('The upstream sent a function argument with an absurd index.')
      out.push(index)
    }
  }
  return out
}

function toJson(node: Node): Json {
  if (!(node instanceof Map)) return node
  const keys = [...node.keys()]
  if (keys.length > 0 && keys.every((key) => typeof key === 'number')) {
    const out: Json[] = new Array(Math.max(...keys) + 1).fill(null)
    for (const [key, value] of node) out[key as number] = toJson(value)
    return out
  }
  return Object.fromEntries([...node].map(([key, value]) => [String(key), toJson(value)]))
}
