// Text: several turns, instructions, stop sequences, counts, refusals and truncated answers.
import type { Reply } from '../../../adapters/testing/replies/reply.ts'
import { ask, assistant, user } from '../neutral.ts'
import type { Feature } from './feature.ts'

const HELLO = user('Hello — grüß dich 👋')
const TEXT = 'Good day, nice to meet you. 🌍 Wörld!'

export const text: Feature = {
  id: 'text',
  title: 'text, several turns',
  async run(cell) {
    const turns = [HELLO, assistant('Hi.'), user('Once more, please.')]
    await cell.exchange(ask({ turns }), { text: TEXT })
  },
}

export const system: Feature = {
  id: 'system',
  title: 'system instructions',
  async run(cell) {
    await cell.exchange(ask({ system: 'Answer in one line.\nBe kind.', turns: [HELLO] }), { text: TEXT })
  },
}

export const stop: Feature = {
  id: 'stop',
  title: 'stop sequences (responses has none to ask for)',
  async run(cell) {
    const reply: Reply = { text: 'one, two, three', finish: 'stop_sequence', stopSequence: 'END' }
    await cell.exchange(ask({ turns: [HELLO], stop: ['END', '###'] }), reply)
  },
}

export const usage: Feature = {
  id: 'usage',
  title: 'usage: cached, cache write, reasoning',
  async run(cell) {
    const counts = { input: 1200, cacheRead: 700, cacheWrite: 300, output: 90, reasoning: 40 }
    await cell.exchange(ask({ turns: [HELLO] }), { text: TEXT, usage: counts })
  },
}

export const refusal: Feature = {
  id: 'refusal',
  title: 'refusal',
  async run(cell) {
    const words = 'I cannot help with that request.'
    // Google reports it by its finish reason, with ordinary text.
    const reply: Reply = cell.upstream === 'generate_content' ? { text: words, finish: 'content_filter' } : { refusal: words }
    await cell.exchange(ask({ turns: [HELLO] }), reply)
  },
}

export const length: Feature = {
  id: 'length',
  title: 'answer cut at the token limit',
  async run(cell) {
    await cell.exchange(ask({ turns: [HELLO], maxTokens: 16 }), { text: 'This is only the beg', finish: 'length' })
  },
}
