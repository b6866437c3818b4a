// Estimates the tokens of speech for a model that has a price for tokens only, when its vendor reports none: an answer of plain audio has no
// place for them.
import type { Usage } from '../../core/types/request/answer.ts'

const CHARACTERS_PER_TOKEN = 4
/** OpenAI counts one token for 50 ms of the audio that it makes. */
const TOKENS_PER_SECOND = 20

export function spokenUsage(usage: Usage): Usage {
  const { characters, seconds } = usage.units ?? {}
  if (usage.total !== 0 || characters === undefined || seconds === undefined) return usage
  const inputTotal = Math.ceil(characters / CHARACTERS_PER_TOKEN)
  const outputTotal = seconds * TOKENS_PER_SECOND
  return { ...usage, inputTotal, outputTotal, outputAudio: outputTotal, total: inputTotal + outputTotal }
}
