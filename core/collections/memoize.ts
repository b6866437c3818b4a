/**
 * A pure function of a text whose answers are kept. Texts may come from callers: when there are more than `most`, all are forgotten.
 */
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
