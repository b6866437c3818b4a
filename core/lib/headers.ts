// HeaderBag over a flat list: no web object, no copy until somebody writes.
import type { HeaderBag } from '../types/ports.ts'

class FlatHeaders implements HeaderBag {
  #source: readonly string[] | (() => readonly string[])
  #owned: boolean

  constructor(source: readonly string[] | (() => readonly string[]), owned: boolean) {
    this.#source = source
    this.#owned = owned
  }

  get #list(): readonly string[] {
    if (typeof this.#source === 'function') this.#source = this.#source()
    return this.#source
  }

  set #list(list: readonly string[]) {
    this.#source = list
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
    this.append(name, value)
  }

  append(name: string, value: string): void {
    if (!this.#owned) this.#list = [...this.#list]
    this.#owned = true
    ;(this.#list as string[]).push(name.toLowerCase(), value)
  }

  delete(name: string): void {
    if (!this.has(name)) return
    const wanted = name.toLowerCase()
    const kept: string[] = []
    for (let i = 0; i < this.#list.length; i += 2) {
      if (!same(this.#list[i] as string, wanted)) kept.push(this.#list[i] as string, this.#list[i + 1] as string)
    }
    this.#list = kept
    this.#owned = true
  }

  flat(): readonly string[] {
    return this.#list
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (let i = 0; i < this.#list.length; i += 2) yield [(this.#list[i] as string).toLowerCase(), this.#list[i + 1] as string]
  }
}

/** An empty bag, or one over a list that stays as it is: the first write copies it. A function makes the list on first use. */
export function headerBag(list?: readonly string[] | (() => readonly string[])): HeaderBag {
  return list === undefined ? new FlatHeaders([], true) : new FlatHeaders(list, false)
}

function same(name: string, lower: string): boolean {
  return name.length === lower.length && (name === lower || name.toLowerCase() === lower)
}
