// Characters and seconds of a spoken text. Vendors that answer with plain audio report neither seconds nor tokens.

import type { SpeechRequest } from '../../../core/types/operations/operations.ts'
import type { MediaUnits } from '../../../core/types/request/answer.ts'
import type { Frozen } from '../../../core/types/request/canonical.ts'

/** Speech at the usual speed: 150 English words a minute. */
const CHARACTERS_PER_SECOND = 15
/** One character of these scripts is a syllable or a word, and takes as long as this many letters. */
const LETTERS_PER_SYLLABLE = 3
const SYLLABLES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/** Returns the characters, and an estimate of the seconds. */
export function spokenUnits({ input, speed = 1 }: Frozen<SpeechRequest>): MediaUnits {
  const characters = [...input].length
  const syllables = input.match(SYLLABLES)?.length ?? 0
  const letters = characters + syllables * (LETTERS_PER_SYLLABLE - 1)
  return { characters, seconds: Math.ceil(letters / CHARACTERS_PER_SECOND / speed) }
}
