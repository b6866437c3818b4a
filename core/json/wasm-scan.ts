// Scans small texts and long strings in WebAssembly (scripts/wasm/json-scan.ts). A runtime that compiles no such module, or has no vectors,
// uses the scan in JavaScript alone.
import { base64Bytes } from '../text/bytes.ts'
import { knownKeyText } from './known-texts.ts'
import { type Member, memberAt } from './member.ts'
import type { FewNames } from './member-names.ts'
import { WASM_MODULE } from './wasm-module.ts'

/** Places in the module's memory, in 32-bit words, as scripts/wasm/json-scan.ts has them. */
const TEXT_BYTES = 65_536
const RESULT = (TEXT_BYTES + 64) >> 2
const MEMBERS = RESULT + 2
const MEMBER_WORDS = 5

interface Scanner {
  readonly text: Uint8Array
  readonly words: Int32Array
  readonly scan: (length: number, from: number) => number
  readonly rest: (from: number, length: number) => number
}

let scanner: Scanner | null | undefined

function loaded(): Scanner | null {
  try {
    const module = new WebAssembly.Module(base64Bytes(WASM_MODULE) as Uint8Array<ArrayBuffer>)
    const { memory, scan, rest } = new WebAssembly.Instance(module).exports as unknown as Scanner & { memory: WebAssembly.Memory }
    return { text: new Uint8Array(memory.buffer), words: new Int32Array(memory.buffer), scan, rest }
  } catch {
    return null
  }
}

/**
 * Returns the members of a valid JSON object of up to 64 KiB. Null: `json-scan.ts` must judge the text. The values are not counted.
 */
export function smallObject(bytes: Uint8Array, names: FewNames | null): Map<string, Member> | null {
  if (scanner === undefined) scanner = loaded()
  if (scanner === null || bytes.length > TEXT_BYTES) return null
  const { text, words, scan } = scanner
  part.of = null
  text.set(bytes)
  const count = scan(bytes.length, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
  if (count < 0) return null
  names?.add(words[RESULT] as number, words[RESULT + 1] as number)
  const members = new Map<string, Member>()
  for (let at = MEMBERS, end = MEMBERS + count * MEMBER_WORDS; at < end; at += MEMBER_WORDS) {
    const keyStart = words[at + 1] as number
    const key = knownKeyText(bytes, words[at] as number, keyStart, words[at + 2] as number)
    members.set(key, memberAt(keyStart, words[at + 3] as number, words[at + 4] as number))
  }
  return members
}

/** The part of a text that is in the module's memory. A text is read in order, so each byte is copied once. */
const part = { of: null as Uint8Array | null, from: 0, to: 0 }

/** Call it before a scan: the bytes of a text may be others than in the last one. */
export function forgetPart(): void {
  part.of = null
}

/**
 * Reads on in a string, up to `to` or some KiB further. Returns the offset after its closing quote; `~at`: the string goes on in JavaScript
 * at this place, with an escape, a control character or more plain text.
 */
export function restOfString(bytes: Uint8Array, from: number, to: number): number {
  if (scanner === undefined) scanner = loaded()
  if (scanner === null) return ~from
  const { text, rest } = scanner
  let at = from
  while (at < to) {
    if (part.of !== bytes || at < part.from || at >= part.to) {
      part.of = bytes
      part.from = at
      part.to = Math.min(at + TEXT_BYTES, bytes.length)
      text.set(bytes.subarray(at, part.to))
    }
    const end = rest(at - part.from, part.to - part.from)
    if (end > 0) return part.from + end
    at = part.from + ~end
    if (at < part.to) break
  }
  return ~at
}
