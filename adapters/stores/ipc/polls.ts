// Asks all processes but one, and collects what answers in time. For topics with a rest, the last answer of a process that ends is kept:
// counts of the whole must not fall when a process is replaced.
import type { Clock, Timer } from '../../../core/types/ports/ports.ts'
import type { Wire } from './wire.ts'

/** A process that is asked. */
export interface Poll {
  readonly wire: Wire
}

export interface Asked {
  readonly topic: string
  readonly question: unknown
  /** The asking process's own answer; null: none. */
  readonly own: unknown
}

export interface Polls {
  /** Resolves to the answers of the others, and the rest. */
  ask(question: Asked, by: Poll, members: readonly Poll[]): Promise<readonly unknown[]>
  answered(by: Poll, question: number, value: unknown): void
  leave(member: Poll): void
}

interface Question {
  readonly topic: string
  readonly answers: unknown[]
  readonly open: Set<Poll>
  readonly timer: Timer
  over(): void
}

/** A process that is busy for longer is left out. */
const TIMEOUT_MS = 2000

type Rest = (rest: unknown, last: unknown) => Promise<unknown> | unknown

export function polls(clock: Clock, rests: Readonly<Record<string, Rest>>): Polls {
  const questions = new Map<number, Question>()
  /** By topic: the last answer of each process. */
  const last = new Map<string, Map<Poll, unknown>>(Object.keys(rests).map((topic) => [topic, new Map()]))
  const kept = new Map<string, Promise<unknown>>()
  let count = 0

  const close = (id: number, question: Question, by: Poll): void => {
    question.open.delete(by)
    if (question.open.size > 0) return
    questions.delete(id)
    question.timer.cancel()
    question.over()
  }
  const collect = (topic: string, question: unknown, others: readonly Poll[]): Promise<unknown[]> =>
    new Promise((resolve) => {
      const answers: unknown[] = []
      if (others.length === 0) return resolve(answers)
      const id = ++count
      const over = (): void => resolve(answers)
      const late = (): void => {
        questions.delete(id)
        over()
      }
      questions.set(id, { topic, answers, open: new Set(others), timer: clock.timer(TIMEOUT_MS, late, true), over })
      for (const { wire } of others) wire.send(['asked', id, topic, question])
    })

  return {
    async ask({ topic, question, own }, by, members) {
      if (own !== null) last.get(topic)?.set(by, own)
      const answers = await collect(
        topic,
        question,
        members.filter((member) => member !== by),
      )
      const rest = await kept.get(topic)
      return rest === undefined ? answers : [...answers, rest]
    },
    answered(by, id, value) {
      const question = questions.get(id)
      if (question === undefined || !question.open.has(by)) return
      if (value !== null) {
        question.answers.push(value)
        last.get(question.topic)?.set(by, value)
      }
      close(id, question, by)
    },
    leave(member) {
      for (const [id, question] of questions) if (question.open.has(member)) close(id, question, member)
      for (const [topic, answers] of last) {
        const value = answers.get(member)
        if (value === undefined) continue
        answers.delete(member)
        const before = kept.get(topic)
        const after = Promise.resolve(before).then((rest) => (rests[topic] as Rest)(rest, value))
        kept.set(
          topic,
          after.catch(() => before),
        )
      }
    },
  }
}
