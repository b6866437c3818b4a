// Where the members of a scanned JSON object lie in its bytes, with what later reads keep of them.
import type { Searchable } from '../text/bytes.ts'

export interface Span {
  start: number
  end: number
}

/** Where values inside a text start, as far as they were asked for. */
export interface FoundPlaces {
  find(bytes: Uint8Array, from: number, segments: readonly string[]): number | undefined
}

/** A member of a JSON object: the span is that of its value. */
export interface Member extends Span {
  /** Offset of the key's opening quote. */
  keyStart: number
  /** The decoded text, cached on first use. */
  text?: string | undefined
  /** The bytes to search, cached on first use. */
  view?: Searchable | undefined
  /** Where the values inside start, cached on first use. */
  places?: FoundPlaces | undefined
}

/** All members have one shape, for the engine's inline caches. */
export function memberAt(keyStart: number, start: number, end: number): Member {
  return { keyStart, start, end, text: undefined, view: undefined, places: undefined }
}
