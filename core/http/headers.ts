// HeaderBag over a flat list: no web object, and no copy before the first write.
import type { HeaderBag } from '../types/ports/ports.ts'
import { answerHeaderName, headerValue } from './header-text.ts'

class FlatHeaders implements HeaderBag {
  #source: readonly string[] | (() => readonly string[])
  #owned: boolean
  readonly #checked: boolean

  constructor(source: readonly string[] | (() => readonly string[]), owned: boolean, checked = false) {
    this.#source = source
    this.#owned = owned
    this.#checked = checked
  }

  get(name: string): string | null {
    const list = this.flat()
    let found: string | null = null
    for (let i = 0; i < list.length; i += 2) {
      if (same(list[i] as string, name)) found = found === null ? (list[i + 1] as string) : `${found}, ${list[i + 1]}`
    }
    return found
  }

  all(name: string): readonly string[] {
    const list = this.flat()
    const out: string[] = []
    for (let i = 0; i < list.length; i += 2) if (same(list[i] as string, name)) out.push(list[i + 1] as string)
    return out
  }

  has(name: string): boolean {
    const list = this.flat()
    for (let i = 0; i < list.length; i += 2) if (same(list[i] as string, name)) return true
    return false
  }

  set(name: string, value: string): void {
    this.delete(name)
    this.append(name, value)
  }

  append(name: string, value: string): void {
    const list = this.#owned ? (this.flat() as string[]) : [...this.flat()]
    if (this.#checked) list.push(answerHeaderName(name), headerValue(value))
    else list.push(name.toLowerCase(), value)
    this.#source = list
    this.#owned = true
  }

  delete(name: string): void {
    if (!this.has(name)) return
    const list = this.flat()
    const kept: string[] = []
    for (let i = 0; i < list.length; i += 2) {
      if (!same(list[i] as string, name)) kept.push(list[i] as string, list[i + 1] as string)
    }
    this.#source = kept
    this.#owned = true
  }

  flat(): readonly string[] {
    if (typeof this.#source === 'function') this.#source = this.#source()
    return this.#source
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    // Reads the list at each step, because the loop's body may write to the bag.
    for (let i = 0; i < this.flat().length; i += 2) yield [(this.flat()[i] as string).toLowerCase(), this.flat()[i + 1] as string]
  }
}

/** Returns an empty bag, or one over a list that must not change: the first write copies it. A function creates the list on first use. */
export function headerBag(list?: readonly string[] | (() => readonly string[])): HeaderBag {
  return list === undefined ? new FlatHeaders([], true) : new FlatHeaders(list, false)
}

/** Returns an empty bag for headers that plugins send to callers. It refuses lines that would make the server reject the answer. */
export function answerHeaderBag(): HeaderBag {
  return new FlatHeaders([], true, true)
}

/** Most look-ups find nothing, and most names differ in length or first letter. */
function same(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  if (a === b) return true
  return (a.charCodeAt(0) | 0x20) === (b.charCodeAt(0) | 0x20) && a.toLowerCase() === b.toLowerCase()
}
