// Converts text and bytes. It uses Node's Buffer when the runtime has it (several times faster than TextDecoder on Node 20).

type NodeBuffer = Uint8Array & {
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
  indexOf(text: string, from: number, encoding: string): number
}
interface BufferLike {
  from(source: ArrayBufferLike, offset: number, length: number): NodeBuffer
  from(source: string, encoding?: string): Uint8Array
  allocUnsafe(length: number): Uint8Array
  byteLength(text: string): number
  allocUnsafeSlow(length: number): Uint8Array
}
const NodeBuffer = (globalThis as unknown as { Buffer?: BufferLike }).Buffer
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (NodeBuffer) {
    const own = bytes as NodeBuffer
    if (typeof own.utf8Slice === 'function') return own.utf8Slice(start, end)
    return NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).utf8Slice(start, end)
  }
  return decoder.decode(bytes.subarray(start, end))
}

/** Returns the text of a JSON body, without a byte order mark. */
export function bodyText(bytes: Uint8Array): string {
  return decodeUtf8(bytes, bytes[0] === 0xef && bytes[1] === 0xbb ? 3 : 0)
}

export function encodeUtf8(text: string): Uint8Array {
  return NodeBuffer ? NodeBuffer.from(text) : encoder.encode(text)
}

export function byteLength(text: string): number {
  return NodeBuffer ? NodeBuffer.byteLength(text) : encoder.encode(text).length
}

export interface Searchable {
  /** Searches for ASCII text. */
  includes(text: string): boolean
}

/** Up to this size decoding one-byte characters is faster than a second search of the bytes. */
const SMALL_BYTES = 4096

/** Prepares the bytes from `start` to `end` for several searches. */
export function searchable(bytes: Uint8Array, start: number, end: number): Searchable {
  if (!NodeBuffer) return decodeUtf8(bytes, start, end)
  const own = bytes as NodeBuffer
  if (end - start <= SMALL_BYTES && typeof own.latin1Slice === 'function') return own.latin1Slice(start, end)
  return new SearchableBytes(NodeBuffer.from(bytes.buffer, bytes.byteOffset + start, end - start))
}

/**
 * Node looks for a text of up to this length by its first byte, which passes a megabyte of base64 in 10 µs. For a longer text it compares
 * every few bytes, which takes 200 µs.
 */
const FAST_LENGTH = 7

class SearchableBytes implements Searchable {
  readonly #bytes: NodeBuffer

  constructor(bytes: NodeBuffer) {
    this.#bytes = bytes
  }

  includes(text: string): boolean {
    const start = this.#bytes.indexOf(text.slice(0, FAST_LENGTH), 0, 'latin1')
    if (start === -1 || text.length <= FAST_LENGTH) return start !== -1
    return this.#bytes.indexOf(text, start, 'latin1') !== -1
  }
}

/** Returns the offset of the first occurrence of an ASCII text from `from` on; -1: there is none. */
export function offsetOf(bytes: Uint8Array, text: string, from: number): number {
  if (NodeBuffer) {
    const own = bytes as NodeBuffer
    if (typeof own.latin1Slice === 'function') return own.indexOf(text, from, 'latin1')
    return NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(text, from, 'latin1')
  }
  const first = text.charCodeAt(0)
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    let matched = 1
    while (matched < text.length && bytes[at + matched] === text.charCodeAt(matched)) matched++
    if (matched === text.length) return at
  }
  return -1
}

/** Returns memory with any content: the caller overwrites all bytes that it uses. Node does not touch the memory. */
export function newBytes(length: number): Uint8Array {
  return NodeBuffer ? NodeBuffer.allocUnsafeSlow(length) : new Uint8Array(length)
}

export function concatBytes(list: readonly Uint8Array[]): Uint8Array {
  if (list.length === 1) return list[0] as Uint8Array
  let total = 0
  for (const chunk of list) total += chunk.length
  const out = NodeBuffer ? NodeBuffer.allocUnsafe(total) : new Uint8Array(total)
  let at = 0
  for (const chunk of list) {
    out.set(chunk, at)
    at += chunk.length
  }
  return out
}

export function base64Encode(text: string): string {
  return bytesToBase64(encodeUtf8(text))
}

export function bytesToBase64(bytes: Uint8Array): string {
  if (NodeBuffer)
    return (
      NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) as unknown as { toString(encoding: string): string }
    ).toString('base64')
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Accepts both base64 alphabets; returns the text, or null when it is not base64. */
export function base64Decode(text: string): string | null {
  const bytes = base64Bytes(text)
  return bytes === null || bytes.length === 0 ? null : decodeUtf8(bytes)
}

/** Accepts both base64 alphabets; returns null when the text is not base64. */
export function base64Bytes(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return null
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = new Uint8Array(binary.length)
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
    return bytes
  } catch {
    return null
  }
}
