// Names prepared statements, so that each connection parses a text once. Only the first few hundred texts get a name (filters are
// composed of pieces), because PostgreSQL keeps a named statement as long as the connection.
import { createHash } from 'node:crypto'
import type { Sql } from '../../../core/types/ports/db.ts'

const NAMED = 300
const KEPT_TEXTS = 1000

export interface NamedQuery {
  text: string
  name?: string
  values?: unknown[]
}

/** Strings (also E'' with backslashes), quoted identifiers, dollar quotes and comments, each as one token. */
const TOKEN = /\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

export function numbered(text: string): string {
  let count = 0
  return text.replace(TOKEN, (token) => (token === '?' ? `$${++count}` : token))
}

export class StatementNames {
  readonly #enabled: boolean
  readonly #known = new Map<string, { text: string; name?: string }>()
  #named = 0
  #round = 0

  constructor(enabled: boolean) {
    this.#enabled = enabled
  }

  config(query: Sql): NamedQuery {
    // A query without values uses the simple protocol, which accepts several statements.
    if (query.params.length === 0) return { text: query.text }
    let known = this.#known.get(query.text)
    if (known === undefined) {
      known = { text: numbered(query.text) }
      if (this.#enabled && this.#named < NAMED) {
        this.#named++
        known.name = `g${this.#round}_${createHash('sha256').update(known.text).digest('hex').slice(0, 32)}`
      }
      if (this.#known.size < KEPT_TEXTS) this.#known.set(query.text, known)
    }
    return { ...known, values: query.params as unknown[] }
  }

  /** Makes new names, because the prepared statements are out of date. */
  renew(): void {
    this.#round++
    this.#named = 0
    this.#known.clear()
  }
}
