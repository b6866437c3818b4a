// Applies payload rules to a wire body: each path is set or removed in place, so that all other bytes stay the same.
import type { Frozen, Json } from '../../core/types/request/canonical.ts'
import type { WireBody } from '../../core/types/request/dialect.ts'
import { type Path, RESERVED, type Rule } from './rule.ts'

/** Applies the rule. Returns whether it changed the body. */
export function applyRule(body: WireBody, rule: Rule): boolean {
  let changed = false
  const set = (path: Path, value: Json): void => {
    if (!settable(body, path)) return
    body.set(dotted(path), value)
    changed = true
  }
  for (const [pattern, value] of rule.defaults)
    for (const path of placesOf(body, pattern)) {
      const present = body.raw(dotted(path))
      if (present === undefined || present === 'null') set(path, value)
    }
  for (const [pattern, value] of rule.overrides) for (const path of placesOf(body, pattern)) set(path, value)
  // From the end, because a removed item shifts those after it.
  for (const pattern of rule.removals)
    for (const path of placesOf(body, pattern).reverse()) {
      if (body.raw(dotted(path)) === undefined) continue
      body.remove(dotted(path))
      changed = true
    }
  return changed
}

/** Returns the paths that match a pattern: `*` is every item of an array and every value of an object. */
function placesOf(body: WireBody, pattern: Path): Path[] {
  const last = pattern.lastIndexOf('*')
  if (last === -1) return [pattern]
  let places: { path: Path; value: Frozen<Json> | undefined }[] = [{ path: [], value: body.json() }]
  for (const segment of pattern.slice(0, last + 1)) {
    places = places.flatMap(({ path, value }) =>
      (segment === '*' ? keysOf(value) : [segment]).map((key) => ({ path: [...path, key], value: child(value, key) })),
    )
  }
  const rest = pattern.slice(last + 1)
  return places.map(({ path }) => [...path, ...rest]).filter(([first]) => !RESERVED.has(first as string))
}

function keysOf(value: Frozen<Json> | undefined): string[] {
  if (typeof value !== 'object' || value === null) return []
  // A path cannot express a key that ends in a backslash.
  return Object.keys(value).filter((key) => !key.endsWith('\\'))
}

function child(value: Frozen<Json> | undefined, key: string): Frozen<Json> | undefined {
  if (isList(value)) return value.at(Number(key))
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as { readonly [key: string]: Frozen<Json> })[key]
}

function isList(value: Frozen<Json> | undefined): value is readonly Frozen<Json>[] {
  return Array.isArray(value)
}

/** Missing objects on the path are created, missing arrays are not. A path does not pass through a scalar. */
function settable(body: WireBody, path: Path): boolean {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const container = body.raw(dotted(path.slice(0, depth)))
    // A number is an array index: no upstream accepts an object in its place.
    if ((container === undefined || container === 'null') && INDEX.test(path[depth] as string)) return false
    if (container === undefined) continue
    if (container.startsWith('[')) return body.raw(dotted(path)) !== undefined
    return container.startsWith('{') || container === 'null'
  }
  return true
}

const INDEX = /^-?\d+$/

function dotted(path: Path): string {
  return path.map((segment) => segment.replaceAll('.', '\\.')).join('.')
}
