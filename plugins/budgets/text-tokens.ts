// The most tokens a text can have beyond one for two bytes of it. Letters and spaces never come in smaller tokens than that;
// digits and signs may be a token each, and rare characters one for each of their bytes.
import type { Frozen, Json } from '../../core/types/canonical.ts'

const LONELY = new Uint8Array(128).map((_, code) => {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
  return isLetter || code === 0x20 || code === 0x0a ? 0 : 1
})

/** Tokens. */
export function extraTokens(text: string): number {
  let halves = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) halves += LONELY[code] as number
    else if (code < 0x800) halves += 2
    // Chinese, Japanese and Korean: two tokens a character at most in vocabularies that know them.
    else if ((code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)) halves += 1
    else halves += code >= 0xd800 && code <= 0xdfff ? 2 : 3
  }
  return halves / 2
}

/** Extra tokens of all texts in the value, member names included. Bodies are bounded in depth before they are decoded. */
export function extraTokensIn(value: Frozen<Json>): number {
  if (typeof value === 'string') return extraTokens(value)
  if (typeof value === 'number') return extraTokens(String(value))
  if (typeof value !== 'object' || value === null) return 0
  let tokens = 0
  for (const [name, member] of Object.entries(value as Readonly<Record<string, Frozen<Json>>>))
    tokens += (Array.isArray(value) ? 0 : extraTokens(name)) + extraTokensIn(member)
  return tokens
}
