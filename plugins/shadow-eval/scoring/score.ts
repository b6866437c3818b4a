// Chooses how two answers are compared. Comparisons that need no model come first.
import type { Answer } from '../sample.ts'
import type { Method } from '../service.ts'
import { similarity, structureIn } from './json.ts'
import { normalised, tokenF1 } from './text.ts'
import { callsScore } from './tool-calls.ts'

export interface Scored {
  /** 0 to 1. */
  readonly score: number
  readonly method: Method
}

/** Returns null when the texts differ and only a model, or a count of words, can compare them. */
export function scoredAlone(served: Answer, other: Answer): Scored | null {
  if (served.calls.length > 0 || other.calls.length > 0)
    return { score: callsScore(served.calls, other.calls), method: 'tool_call' }
  if (normalised(served.text) === normalised(other.text)) return { score: 1, method: 'exact' }
  const [a, b] = [structureIn(served.text), structureIn(other.text)]
  return a === undefined || b === undefined ? null : { score: similarity(a, b), method: 'json' }
}

export function scoredByWords(served: Answer, other: Answer): Scored {
  return { score: tokenF1(served.text, other.text), method: 'token_f1' }
}

/** @param a of length 1, as is `b`. Returns 0 to 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return Math.min(
    1,
    Math.max(
      0,
      a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0),
    ),
  )
}
