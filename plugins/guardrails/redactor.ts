// Replaces redacted text by placeholders. With `restore` personal data gets numbered placeholders, and the answer to the same request is
// restored from them. The list lives as long as the request and is never stored.
export class Redactor {
  /** null: values are not restored. */
  readonly #restores: Map<string, string> | null
  readonly #known = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(restore: boolean) {
    this.#restores = restore ? new Map() : null
  }

  /** Returns placeholder → value; null when there is none. */
  get restores(): ReadonlyMap<string, string> | null {
    return this.#restores !== null && this.#restores.size > 0 ? this.#restores : null
  }

  /** Reserves the placeholders that the texts already contain. */
  reserve(text: string): void {
    if (this.#restores === null || !text.includes('[')) return
    for (const [, label = '', number = ''] of text.matchAll(PLACEHOLDER))
      this.#counts.set(label, Math.max(this.#counts.get(label) ?? 0, Number(number)))
  }

  replacement(detector: string, entity: string, found: string): string {
    const label = labelOf(detector, entity)
    if (this.#restores === null || detector !== 'pii') return `[${label}_REDACTED]`
    const key = `${label} ${found}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const number = (this.#counts.get(label) ?? 0) + 1
    this.#counts.set(label, number)
    const placeholder = `[${label}_${number}]`
    this.#known.set(key, placeholder)
    this.#restores.set(placeholder, found)
    return placeholder
  }
}

const PLACEHOLDER = /\[([A-Z][A-Z_]{1,30})_(\d{1,6})\]/g
/** Text that may still become a placeholder. */
const BEGUN = /\[[A-Z_\d]{0,38}$/

function labelOf(detector: string, entity: string): string {
  if (detector === 'secrets') return 'SECRET'
  if (detector === 'keywords') return 'KEYWORD'
  return (
    entity
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .slice(0, 30) || 'TEXT'
  )
}

/** Restores placeholders in a text that arrives in pieces. */
export class Restorer {
  readonly #restores: ReadonlyMap<string, string>
  #held = ''
  /** True after a value was restored. */
  used = false

  constructor(restores: ReadonlyMap<string, string>) {
    this.#restores = restores
  }

  push(piece: string): string {
    const text = this.#held + piece
    const begun = BEGUN.exec(text)
    this.#held = begun === null ? '' : text.slice(begun.index)
    return this.#restored(begun === null ? text : text.slice(0, begun.index))
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    return this.#restored(rest)
  }

  #restored(text: string): string {
    if (!text.includes('[')) return text
    return text.replace(PLACEHOLDER, (placeholder) => {
      const value = this.#restores.get(placeholder)
      if (value === undefined) return placeholder
      this.used = true
      return value
    })
  }
}
