// Names for prepared statements: each connection parses a text once. Texts beyond the first few hundred (filters that are
// put together from pieces) go unnamed, because PostgreSQL keeps a named one for as long as the connection lives.
import { createHash } from 'node:crypto'
import type { Sql } from '../../../core/types/db.ts'

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
    // Without values: the simple protocol, which takes several statements.
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

  /** New names for all: what was prepared is out of date. */
  renew(): void {
    this.#round++
    this.#named = 0
    this.#known.clear()
  }
}
