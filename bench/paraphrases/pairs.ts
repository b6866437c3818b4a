// The labelled pairs of questions. The label is whether the answer to one also answers the other.
//
// same       `surface`   the question in other typography: case, punctuation, spaces, a polite frame; two of each, in turn
//            `reworded`  another sentence with the same meaning, written by hand
// different  the question with one marked place changed: a number, name, date, unit, an antonym, a negation, another word.
//            They share nearly all their letters, which makes them hard.
import { QUESTIONS } from './questions.ts'

export interface Pair {
  readonly a: string
  readonly b: string
  readonly same: boolean
  readonly kind: string
}

/** Frames that do not change the question. */
const SURFACE: readonly ((question: string) => string)[] = [
  (question) => question.toUpperCase(),
  (question) => `Please tell me: ${question}`,
  (question) => question.replace(/[?,]|\.(?!\d)/g, ''),
  (question) => `  ${question.replaceAll(' ', '  ')} `,
  (question) => question.toLowerCase(),
  (question) => `${question} Thanks!`,
  (question) => `Hello, ${question}`,
  (question) => question.replace(/\?$/, ' ???'),
]

const PLACE = /\[([^|\]]+)\|([^|\]]+)\|([^|\]]+)\]/g

export function labelledPairs(text = QUESTIONS): Pair[] {
  const pairs: Pair[] = []
  let question = ''
  let asked = 0
  for (const line of text.split('\n').filter((one) => one !== '')) {
    if (line.startsWith('= ')) {
      pairs.push({ a: question, b: line.slice(2), same: true, kind: 'reworded' })
      continue
    }
    question = line.replace(PLACE, '$1')
    for (let turn = 0; turn < 2; turn++) {
      const frame = SURFACE[asked++ % SURFACE.length] as (typeof SURFACE)[number]
      pairs.push({ a: question, b: frame(question), same: true, kind: 'surface' })
    }
    for (const [place, , kind, other] of line.matchAll(PLACE))
      pairs.push({ a: question, b: line.replace(place, other as string).replace(PLACE, '$1'), same: false, kind: kind as string })
  }
  return pairs
}
