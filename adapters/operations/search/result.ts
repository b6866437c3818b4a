// Reads the result lists of search vendors.

import type { SearchAnswer } from '../../../core/types/operations/operations.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'

export type SearchResult = SearchAnswer['results'][number]

/** The members of a result, by the vendor's names. The first that has a text counts. */
export interface ResultNames {
  title?: readonly string[]
  url?: readonly string[]
  snippet: readonly string[]
  score?: string
  date?: readonly string[]
  favicon?: string
  content?: readonly string[]
}

/** Returns the results that have an address. */
export function resultsOf(list: Json | undefined, names: ResultNames): SearchResult[] {
  if (!Array.isArray(list)) return []
  return list.filter(isObject).flatMap((entry) => {
    const url = firstText(entry, names.url ?? ['url'])
    if (url === '') return []
    const score = names.score === undefined ? undefined : entry[names.score]
    return [
      {
        title: firstText(entry, names.title ?? ['title', 'name']),
        url,
        snippet: firstText(entry, names.snippet),
        score: typeof score === 'number' ? score : null,
        publishedAt: firstText(entry, names.date ?? []) || null,
        faviconUrl: (names.favicon === undefined ? '' : loose(entry[names.favicon])) || null,
        content: firstText(entry, names.content ?? []) || null,
      },
    ]
  })
}

function firstText(entry: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const value = entry[name]
    const text = Array.isArray(value) ? value.map(loose).filter(Boolean).join(' … ') : loose(value)
    if (text !== '') return text
  }
  return ''
}
