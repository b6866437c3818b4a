// A stored answer: its text and its cost. Only complete answers with nothing but text are stored.
import { z } from 'zod'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { CachedCall } from '../../core/types/request/context.ts'

/** Maximum UTF-16 units of an answer. */
const MAX_CHARS = 128 * 1024

const keptText = z.object({
  text: z.string(),
  id: z.string(),
  model: z.string(),
  created: z.number(),
  nativeFinish: z.string(),
  call: z.custom<CachedCall>((value) => typeof value === 'object' && value !== null),
})
export type KeptText = z.output<typeof keptText>

/** Returns null for an answer that must not be stored. */
export function keptOf(response: Frozen<CanonicalResponse>, call: CachedCall): KeptText | null {
  const [choice, ...others] = response.choices
  if (choice === undefined || others.length > 0 || choice.finish !== 'stop') return null
  let text = ''
  for (const part of choice.parts) {
    // Thoughts are not stored: they belong to their own question.
    if (part.t === 'reasoning') continue
    if (part.t !== 'text' || part.annotations?.length) return null
    text += part.text
  }
  if (text === '' || text.length > MAX_CHARS) return null
  const { id, model, created } = response
  return { text, id, model, created, nativeFinish: choice.nativeFinish, call }
}

/** @throws Error when the text is not a stored answer. */
export function readKept(text: string): KeptText {
  return keptText.parse(JSON.parse(text))
}

export function responseOf({ text, id, model, created, nativeFinish, call }: KeptText): CanonicalResponse {
  return {
    id,
    model,
    created,
    usage: { ...call.usage },
    ext: {},
    choices: [{ index: 0, parts: [{ t: 'text', text }], finish: 'stop', nativeFinish }],
  }
}

// Tests whether a fresh answer agrees with the stored one: equal words, or close embeddings.
const CLOSE = 0.9
/** Characters of each answer that are compared, in UTF-16 units: embedders accept no more. */
const MAX_COMPARED_CHARS = 8000

/** @param embed returns vectors of length 1; null when there are none. */
export async function agree(
  kept: string,
  fresh: string,
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[] | null>,
): Promise<boolean | null> {
  if (plain(kept) === plain(fresh)) return true
  const vectors = await embed([kept.slice(0, MAX_COMPARED_CHARS), fresh.slice(0, MAX_COMPARED_CHARS)])
  const [a, b] = vectors ?? []
  return a === undefined || b === undefined ? null : cosine(a, b) >= CLOSE
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\s]+/gu, ' ')
    .trim()
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}
