// Keeps opened parts of long conversations, so that each new turn does not open all earlier ones again. They never change. Each use asks the
// database first what still exists and may be read.

export interface OpenedCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T, bytes: number): void
  delete(key: string): void
}

/** `maxBytes`: values that were not used for the longest time are dropped beyond it. */
export function openedCache<T>(maxBytes: number): OpenedCache<T> {
  const values = new Map<string, { readonly value: T; readonly bytes: number }>()
  let held = 0
  const drop = (key: string): void => {
    held -= values.get(key)?.bytes ?? 0
    values.delete(key)
  }
  return {
    get(key) {
      const found = values.get(key)
      if (found === undefined) return undefined
      values.delete(key)
      values.set(key, found)
      return found.value
    },
    set(key, value, bytes) {
      drop(key)
      values.set(key, { value, bytes })
      held += bytes
      for (const oldest of values.keys()) {
        if (held <= maxBytes) return
        drop(oldest)
      }
    },
    delete: drop,
  }
}
