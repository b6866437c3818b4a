// The stage of a stream that takes think tags apart.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noUsage } from '../../core/models/token-estimate.ts'
import { collector } from '../../core/stream/collect.ts'
import type { Part } from '../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import { SplitStream } from '../../plugins/think-tags/split-stream.ts'
import { saidBy } from '../support/dialects.ts'

/** The parts a stream of these texts ends up with. */
function split(pieces: readonly string[]): Part[] {
  const stream = new SplitStream()
  const out = collector()
  const feed = (event: StreamEvent) => stream.event(event, out.event)
  feed({ e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} })
  for (const text of pieces) feed({ e: 'delta', choice: 0, part: 0, d: { text } })
  feed({ e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: pieces.join('') } })
  feed({ e: 'finish', choice: 0, finish: 'stop', native: 'stop' })
  return out.response().choices[0]?.parts ?? []
}

describe('the stream stage', () => {
  const token = fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    '<thi',
    '<',
    '>',
    '```',
    '\n',
    ' ',
    'word',
    'é👋',
    '/think>',
  )
  const said = (parts: readonly Part[]) =>
    saidBy({ ...EMPTY, choices: [{ index: 0, parts: [...parts], finish: 'stop', nativeFinish: 'stop' }] })

  it('says the same however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 8 }), (tokens, cuts) => {
        const text = tokens.join('')
        const at = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
        expect(split(pieces)).toEqual(split([text]))
      }),
    )
  })

  it('loses and invents nothing but tags and white space behind them', () => {
    // Pieces that cannot become a tag by what is taken out between them.
    const whole = token.filter((piece) => piece !== '<' && piece !== '/think>')
    fc.assert(
      fc.property(fc.array(whole, { maxLength: 20 }), (tokens) => {
        const text = tokens.join('')
        const { thought, text: rest } = said(split([text]))
        const bare = (value: string) => [...value.replace(/<\/?think(ing)?>|\s/g, '')].sort().join('')
        expect(bare(thought + rest)).toBe(bare(text))
      }),
    )
  })

  it('is the identity on text without tags, and holds back ten characters at most', () => {
    const plain = fc.array(fc.constantFrom('<', '<thin', '</th', '<b>', '```\n', ' ', 'word', '👋', '\n'), { maxLength: 20 })
    fc.assert(
      fc.property(plain, (pieces) => {
        const text = pieces.join('')
        fc.pre(!/<\/?think(ing)?>/.test(text))
        let sent = ''
        let read = ''
        const stream = new SplitStream()
        const emit = (event: StreamEvent) => {
          if (event.e === 'delta' && 'text' in event.d) sent += event.d.text
        }
        stream.event({ e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} }, emit)
        for (const piece of pieces) {
          read += piece
          stream.event({ e: 'delta', choice: 0, part: 0, d: { text: piece } }, emit)
          expect(read.length - sent.length).toBeLessThanOrEqual(10)
          expect(read.startsWith(sent)).toBe(true)
        }
        stream.flush(emit)
        expect(sent).toBe(text)
      }),
    )
  })

  it('annotations, signatures and logprobs stay with the text they came with', () => {
    const annotation = { kind: 'url' as const, url: 'https://a.test', raw: {}, dialect: 'chat' as const }
    const signature = { dialect: 'generate_content' as const, modelFamily: 'gemini', value: 's' }
    const events: StreamEvent[] = []
    const stream = new SplitStream()
    const feed = (event: StreamEvent) => stream.event(event, (out) => events.push(out))
    feed({ e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} })
    feed({ e: 'delta', choice: 0, part: 0, d: { annotation } })
    feed({ e: 'delta', choice: 0, part: 0, d: { text: '<think>a' } })
    feed({ e: 'delta', choice: 0, part: 0, d: { logprobs: { content: [] } } })
    feed({ e: 'delta', choice: 0, part: 0, d: { text: '</think>b' } })
    feed({ e: 'delta', choice: 0, part: 0, d: { signature } })
    feed({ e: 'part_stop', choice: 0, part: 0, full: { t: 'text', text: '' } })
    const stops = events.flatMap((event) => (event.e === 'part_stop' ? [event.full] : []))
    expect(stops).toEqual([
      { t: 'reasoning', text: 'a' },
      { t: 'text', text: 'b', annotations: [annotation], signature },
    ])
    const logprobs = events.find((event) => event.e === 'delta' && 'logprobs' in event.d)
    expect(logprobs).toMatchObject({ part: 0 })
  })
})

const EMPTY = { id: 'c', created: 1, model: 'm', choices: [], usage: noUsage(), ext: {} }
