/**
 * Returns a function that reads a value once per key and keeps the newest. A read that fails or finds nothing (null) is not kept: the next
 * call reads again.
 */
export function readOnce<T>(read: () => Promise<T | null>): (key?: string) => Promise<T | null> {
  let kept: { readonly key: string; readonly value: Promise<T | null> } | null = null
  return (key = '') => {
    if (kept?.key === key) return kept.value
    const entry = { key, value: read() }
    kept = entry
    const forget = (): void => {
      if (kept === entry) kept = null
    }
    entry.value.then((value) => value === null && forget(), forget)
    return entry.value
  }
}
