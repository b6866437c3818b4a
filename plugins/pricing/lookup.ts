// Under which name the card has a model: its own, without the date, the base provider's, or the one
// provider's that has a model of this name.
import type { Book, BookModel } from './book.ts'
import { baseProvider } from './provider-names.ts'

export interface CardMatch {
  readonly provider: string
  readonly entry: BookModel
  /** True: another provider's. */
  readonly borrowed: boolean
}

export type CardLookup = (provider: string, model: string, borrow: boolean) => CardMatch | null

export function cardLookup(book: Book): CardLookup {
  const holders = new Map<string, string[]>()
  for (const [provider, models] of book)
    for (const key of models.keys()) {
      const known = holders.get(key)
      if (known === undefined) holders.set(key, [provider])
      else known.push(provider)
    }
  const at = (provider: string, names: readonly string[], borrowed: boolean): CardMatch | null => {
    const models = book.get(provider)
    for (const name of models === undefined ? [] : names) {
      const entry = models?.get(name)
      if (entry !== undefined) return { provider, entry, borrowed }
    }
    return null
  }
  return (provider, model, borrow) => {
    const names = spellings(model)
    const own = at(provider.toLowerCase(), names, false)
    if (own !== null || !borrow) return own
    const base = baseProvider(provider)
    const based = base === null ? null : at(base, names, true)
    if (based !== null) return based
    for (const name of names) {
      const [only, ...others] = holders.get(name) ?? []
      if (only !== undefined && others.length === 0) return at(only, [name], true)
    }
    return null
  }
}

const DATED = /(?:-\d{8}|-\d{4}-\d{2}-\d{2}|@[^/@]*|:latest)$/

/** The name, and without what says which day's version it is. */
function spellings(model: string): string[] {
  const name = model.toLowerCase()
  const bare = name.replace(DATED, '')
  return bare === name || bare === '' ? [name] : [name, bare]
}
