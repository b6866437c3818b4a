// Rewrites a module's memory and tables to our limits, because a worker's `resourceLimits` do not limit them. It is pure; all other bytes
// of the module stay the same.
import { MAX_PAGES, MAX_TABLE_ENTRIES } from './limits.ts'

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
const TABLE_SECTION = 4
const MEMORY_SECTION = 5
const HAS_MAXIMUM = 1

/** @throws Error when it is not a module, has more than one memory, or needs more than allowed. */
export function withLimits(module: Uint8Array): Uint8Array {
  if (MAGIC.some((byte, at) => module[at] !== byte)) throw new Error('This is no WebAssembly module (version 1).')
  const reader = new Reader(module, MAGIC.length)
  const pieces: Uint8Array[] = [module.subarray(0, MAGIC.length)]
  while (!reader.done) {
    const start = reader.at
    const id = reader.byte()
    const size = reader.unsigned()
    const body = reader.take(size)
    if (id === MEMORY_SECTION) pieces.push(section(id, limitedMemory(body)))
    else if (id === TABLE_SECTION) pieces.push(section(id, limitedTables(body)))
    else pieces.push(module.subarray(start, reader.at))
  }
  return joined(pieces)
}

function limitedMemory(body: Uint8Array): Uint8Array {
  const reader = new Reader(body)
  const count = reader.unsigned()
  if (count > 1) throw new Error(`It has ${count} memories; a filter may have one.`)
  if (count === 0) return body
  const flags = reader.byte()
  if (flags > HAS_MAXIMUM) throw new Error('Its memory is shared or of 64 bits; a filter may have neither.')
  const minimum = reader.unsigned()
  const maximum = flags === HAS_MAXIMUM ? reader.unsigned() : MAX_PAGES
  if (minimum > MAX_PAGES)
    throw new Error(`It asks for ${minimum} pages of memory (64 KiB each); a filter may have ${MAX_PAGES}.`)
  reader.end()
  return Uint8Array.from([1, HAS_MAXIMUM, ...unsigned(minimum), ...unsigned(Math.min(maximum, MAX_PAGES))])
}

function limitedTables(body: Uint8Array): Uint8Array {
  const reader = new Reader(body)
  const count = reader.unsigned()
  const out: number[] = [...unsigned(count)]
  let left = MAX_TABLE_ENTRIES
  for (let i = 0; i < count; i++) {
    const type = reader.byte()
    const flags = reader.byte()
    // 0x70: functions, 0x6f: host references. Newer forms contain an expression and are refused.
    if ((type !== 0x70 && type !== 0x6f) || flags > HAS_MAXIMUM)
      throw new Error('It has a table of a kind that filters may not have.')
    const minimum = reader.unsigned()
    const maximum = flags === HAS_MAXIMUM ? reader.unsigned() : left
    if (minimum > left) throw new Error(`Its tables have more than ${MAX_TABLE_ENTRIES} entries.`)
    const most = Math.min(maximum, left)
    left -= most
    out.push(type, HAS_MAXIMUM, ...unsigned(minimum), ...unsigned(most))
  }
  reader.end()
  return Uint8Array.from(out)
}

class Reader {
  at: number
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get done(): boolean {
    return this.at >= this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new Error('The module is cut short.')
    return byte
  }

  /** Reads LEB128 of 32 bits. */
  unsigned(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80 && value < 2 ** 32) return value
    }
    throw new Error('The module has a number that is too large.')
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.#bytes.length) throw new Error('The module is cut short.')
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }

  end(): void {
    if (!this.done) throw new Error('The module has a section that is too long.')
  }
}

function section(id: number, body: Uint8Array): Uint8Array {
  return Uint8Array.from([id, ...unsigned(body.length), ...body])
}

function unsigned(value: number): number[] {
  const bytes: number[] = []
  let left = value
  do {
    const more = left >= 0x80
    bytes.push((left % 0x80) + (more ? 0x80 : 0))
    left = Math.floor(left / 0x80)
  } while (left > 0)
  return bytes
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}
