// Writes a large value as JSON in several turns of the event loop.
import { encodeUtf8, newBytes } from '../text/bytes.ts'
import { textPieces } from '../text/text-pieces.ts'
import type { Turns } from '../timing/yield-queue.ts'
import { RawJson, stringify } from './raw-json.ts'

/** A value with less text is written at once. */
const PIECE_CHARS = 64 * 1024
/** Takes a few milliseconds. */
const STEP_BYTES = 1024 * 1024
/** Elements of an array that are written together when they are short. */
const GROUP = 512

/** Returns the bytes that `stringify` would write. */
export async function writeInTurns(value: object, turns: Turns): Promise<Uint8Array> {
  return joinInTurns(await piecesInTurns(value, turns), turns)
}

/** Returns the same bytes as a list. */
export async function piecesInTurns(value: unknown, turns: Turns): Promise<Uint8Array[]> {
  const writer = new PieceWriter()
  for (const _ of written(value, writer)) await turns.next()
  return writer.end()
}

/** Joins a list of pieces; it copies a part of them in each turn. */
export async function joinInTurns(pieces: readonly Uint8Array[], turns: Turns): Promise<Uint8Array> {
  if (pieces.length === 1) return pieces[0] as Uint8Array
  const out = newBytes(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  let step = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += STEP_BYTES) {
      const part = piece.subarray(from, from + STEP_BYTES)
      out.set(part, at)
      at += part.length
      step += part.length
      if (step < 4 * STEP_BYTES) continue
      step = 0
      await turns.next()
    }
  }
  return out
}

/** Yields when a turn has written enough. It is as deep as the value, which the scan has bounded. */
function* written(value: unknown, out: PieceWriter): Generator<void> {
  if (typeof value === 'string') return yield* textWritten(value, out)
  if (value instanceof RawJson) return yield* rawWritten(value.text, out)
  if (isShort(value)) {
    out.add(stringify(value))
    if (out.isFull()) yield
    return
  }
  if (!Array.isArray(value)) return yield* objectWritten(value as Readonly<Record<string, unknown>>, out)
  out.add('[')
  for (let from = 0; from < value.length; from += GROUP) {
    const group: unknown[] = value.slice(from, from + GROUP)
    if (from > 0) out.add(',')
    if (isShort(group)) {
      out.add(stringify(group).slice(1, -1))
      if (out.isFull()) yield
      continue
    }
    for (const [index, element] of group.entries()) {
      if (index > 0) out.add(',')
      yield* written(element ?? null, out)
    }
  }
  out.add(']')
}

function* objectWritten(value: Readonly<Record<string, unknown>>, out: PieceWriter): Generator<void> {
  let separator = '{'
  for (const name in value) {
    const member = value[name]
    if (member === undefined) continue
    out.add(`${separator}${JSON.stringify(name)}:`)
    separator = ','
    yield* written(member, out)
  }
  out.add(separator === '{' ? '{}' : '}')
}

function* textWritten(text: string, out: PieceWriter): Generator<void> {
  out.add('"')
  for (const part of textPieces(text)) {
    out.add(JSON.stringify(part).slice(1, -1))
    if (out.isFull()) yield
  }
  out.add('"')
}

function* rawWritten(text: string, out: PieceWriter): Generator<void> {
  for (const part of textPieces(text)) {
    out.add(part)
    if (out.isFull()) yield
  }
}

/** Returns whether a value is written in one piece. */
function isShort(value: unknown): boolean {
  return weighed(value, PIECE_CHARS) >= 0
}

/** Returns what is left of `room`; below 0: the value needs more. */
function weighed(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 3
  if (typeof value !== 'object' || value === null) return room - 8
  if (value instanceof RawJson) return room - value.text.length
  let left = room - 2
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = weighed(value[i], left)
    return left
  }
  for (const name in value) {
    left = weighed((value as Record<string, unknown>)[name], left - name.length - 4)
    if (left < 0) break
  }
  return left
}

class PieceWriter {
  readonly #pieces: Uint8Array[] = []
  #text = ''
  #step = 0

  add(text: string): void {
    this.#text += text
    if (this.#text.length < PIECE_CHARS) return
    this.#flush()
  }

  /** Returns true once after each step. */
  isFull(): boolean {
    if (this.#step < STEP_BYTES) return false
    this.#step = 0
    return true
  }

  end(): Uint8Array[] {
    this.#flush()
    return this.#pieces
  }

  #flush(): void {
    const piece = encodeUtf8(this.#text)
    this.#text = ''
    this.#step += piece.length
    this.#pieces.push(piece)
  }
}
