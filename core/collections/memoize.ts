/** Caches the results of a pure function of a text. Texts may come from callers: above `most` entries the whole cache is cleared. */
export function memoize<V>(answer: (text: string) => V, most = 500): (text: string) => V {
  const known = new Map<string, V>()
  return (text) => {
    let value = known.get(text)
    if (value === undefined) {
      value = answer(text)
      if (known.size >= most) known.clear()
      known.set(text, value)
    }
    return value
  }
}
