// A body as it is kept: media and secrets taken out, and no longer than it may be.
import { decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import { withoutMedia } from './media.ts'
import { withoutSecrets } from './secrets.ts'

export interface KeptText {
  readonly text: string
  readonly truncated: boolean
}

/** Beyond the cap: what masking shortens is made up for. */
const SPARE_CHARS = 65_536

/** At most `maxBytes` of UTF-8. */
export function keptText(json: string, maxBytes: number): KeptText {
  const plain = withoutMedia(json)
  const bound = maxBytes + SPARE_CHARS
  // Half a secret would not be known for one.
  const looked = plain.length > bound ? plain.slice(0, wordStart(plain, bound)) : plain
  const clipped = clippedUtf8(withoutSecrets(looked), maxBytes)
  return { text: clipped.text, truncated: clipped.truncated || looked.length < plain.length }
}

/** Never within a character. */
export function clippedUtf8(text: string, maxBytes: number): KeptText {
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 <= maxBytes) return { text, truncated: false }
  const bytes = encodeUtf8(text)
  if (bytes.length <= maxBytes) return { text, truncated: false }
  let end = maxBytes
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return { text: decodeUtf8(bytes, 0, end), truncated: true }
}

/** The start of the unbroken piece of text that `at` is in; not more than a secret's length back. */
function wordStart(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < 8192 && /[\w+/=.-]/.test(text[start - 1] as string)) start--
  return start
}
