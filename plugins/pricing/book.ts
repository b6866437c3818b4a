// Merges prices of many syncs: the newest card over the older ones.
import type { Card, CardModel } from './cards/card.ts'
import { movedBeyond } from './decimal.ts'

export const CARD_SOURCES = ['primary', 'fallback'] as const
export type CardSource = (typeof CARD_SOURCES)[number]

export interface BookModel extends CardModel {
  /** The source of this price. */
  source: CardSource
  /** Prices that its source no longer has, with the epoch ms since when. */
  stale?: Readonly<Record<string, number>>
}

/** By provider id and lower-case model id. */
export type Book = ReadonlyMap<string, ReadonlyMap<string, BookModel>>

export interface Drift {
  readonly provider: string
  readonly model: string
  readonly field: string
  readonly before: number
  readonly after: number
}

export interface Merged {
  readonly book: Book
  /** Number of changed prices, without new ones. */
  readonly changed: number
  readonly drifts: readonly Drift[]
}

export interface MergeRules {
  readonly source: CardSource
  readonly now: number
  /** When the primary source last answered, epoch ms; null: never. */
  readonly primaryAt: number | null
  readonly driftPct: number
}

const DAY_MS = 86_400_000
const PRIMARY_HOLDS_MS = 7 * DAY_MS
const STALE_KEPT_MS = 30 * DAY_MS

export function merged(book: Book, card: Card, rules: MergeRules): Merged {
  const next = new Map<string, Map<string, BookModel>>()
  const drifts: Drift[] = []
  let changed = 0
  const put = (provider: string, key: string, model: BookModel | null) => {
    if (model === null) return
    const models = next.get(provider) ?? new Map<string, BookModel>()
    next.set(provider, models)
    models.set(key, model)
  }
  for (const [provider, models] of card) {
    for (const [key, model] of models) {
      const old = book.get(provider)?.get(key)
      const now = old === undefined ? { ...model, source: rules.source } : together(old, model, rules)
      put(provider, key, withoutExpired(now, rules.now))
      for (const [field, after] of Object.entries(now.prices)) {
        const before = old?.prices[field]
        if (before === undefined || before === after) continue
        changed++
        if (movedBeyond(before, after, rules.driftPct)) drifts.push({ provider, model: model.id, field, before, after })
      }
    }
  }
  for (const [provider, models] of book)
    for (const [key, model] of models) {
      if (card.get(provider)?.has(key)) continue
      const left = vanishedFrom(model, rules.source) ? staleSince(model, Object.keys(model.prices), rules.now) : model
      put(provider, key, withoutExpired(left, rules.now))
    }
  return { book: next, changed, drifts }
}

/** Returns the book without prices that have been missing too long; null: nothing changed. */
export function expired(book: Book, now: number): Book | null {
  let some = false
  const next = new Map<string, Map<string, BookModel>>()
  for (const [provider, models] of book) {
    const left = new Map<string, BookModel>()
    for (const [key, model] of models) {
      const kept = withoutExpired(model, now)
      some ||= kept !== model
      if (kept !== null) left.set(key, kept)
    }
    next.set(provider, left)
  }
  return some ? next : null
}

function together(old: BookModel, model: CardModel, { source, now, primaryAt }: MergeRules): BookModel {
  const held = source === 'fallback' && old.source === 'primary' && primaryAt !== null && now - primaryAt < PRIMARY_HOLDS_MS
  // A recent price of the primary source stays; the fallback adds only missing models.
  if (held)
    return {
      ...model,
      ...old,
      prices: { ...model.prices, ...old.prices },
      capabilities: { ...model.capabilities, ...old.capabilities },
    }
  const over: BookModel = { ...old, ...model, source, prices: { ...old.prices, ...model.prices } }
  const here = new Set(Object.keys(model.prices))
  const stale = Object.entries(old.stale ?? {}).filter(([field]) => !here.has(field))
  if (stale.length > 0) over.stale = Object.fromEntries(stale)
  else delete over.stale
  const gone = Object.keys(old.prices).filter((field) => !here.has(field))
  return vanishedFrom(old, source) ? staleSince(over, gone, now) : over
}

/** The fallback has fewer models than the primary source, so a missing price there means nothing. */
function vanishedFrom(old: BookModel, source: CardSource): boolean {
  return source === 'primary' || old.source === source
}

function staleSince(model: BookModel, fields: readonly string[], now: number): BookModel {
  if (fields.length === 0) return model
  return { ...model, stale: { ...Object.fromEntries(fields.map((field) => [field, now])), ...model.stale } }
}

function withoutExpired(model: BookModel, now: number): BookModel | null {
  const over = Object.entries(model.stale ?? {}).filter(([, since]) => now - since > STALE_KEPT_MS)
  if (over.length === 0) return model
  const fields = new Set(over.map(([field]) => field))
  const left = <T>(record: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(record).filter(([field]) => !fields.has(field)))
  const prices = left(model.prices)
  if (Object.keys(prices).length === 0) return null
  return { ...model, prices, stale: left(model.stale ?? {}) }
}
