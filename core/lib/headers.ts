// HeaderBag over a flat list: no web object, no copy until somebody writes.
import type { HeaderBag } from '../types/ports.ts'

class FlatHeaders implements HeaderBag {
  #list: string[]

  constructor(list: string[]) {
    this.#list = list
  }

  get(name: string): string | null {
    const wanted = name.toLowerCase()
    let found: string | null = null
    for (let i = 0; i < this.#list.length; i += 2) {
      if (same(this.#list[i] as string, wanted))
        found = found === null ? (this.#list[i + 1] as string) : `${found}, ${this.#list[i + 1]}`
    }
    return found
  }

  all(name: string): readonly string[] {
    const wanted = name.toLowerCase()
    const out: string[] = []
    for (let i = 0; i < this.#list.length; i += 2)
      if (same(this.#list[i] as string, wanted)) out.push(this.#list[i + 1] as string)
    return out
  }

  has(name: string): boolean {
    const wanted = name.toLowerCase()
    for (let i = 0; i < this.#list.length; i += 2) if (same(this.#list[i] as string, wanted)) return true
    return false
  }

  set(name: string, value: string): void {
    this.delete(name)
    this.#list.push(name.toLowerCase(), value)
  }

  append(name: string, value: string): void {
    this.#list.push(name.toLowerCase(), value)
  }

  delete(name: string): void {
    if (!this.has(name)) return
    const wanted = name.toLowerCase()
    const kept: string[] = []
    for (let i = 0; i < this.#list.length; i += 2) {
      if (!same(this.#list[i] as string, wanted)) kept.push(this.#list[i] as string, this.#list[i + 1] as string)
    }
    this.#list = kept
  }

  flat(): readonly string[] {
    return this.#list
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (let i = 0; i < this.#list.length; i += 2) yield [(this.#list[i] as string).toLowerCase(), this.#list[i + 1] as string]
  }
}

/** The list is taken over, not copied. */
export function headerBag(list: string[] = []): HeaderBag {
  return new FlatHeaders(list)
}

function same(name: string, lower: string): boolean {
  return name.length === lower.length && (name === lower || name.toLowerCase() === lower)
}
