// An upstream that restarts its message inside one stream: the caller gets all content exactly once.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import type { Dialect } from '../../../../core/types/request/canonical.ts'
import { answerOf, DRIVERS, streamText, warningCodec } from '../../../support/dialects.ts'
import { eventsOf, framesOf, testHop } from './fixtures.ts'

const args = '{"city":"Zürich"}'
const frames = messagesReplies.frames({
  text: 'Let me look.',
  toolCalls: [
    { id: 'toolu_1', name: 'get_weather', args },
    { id: 'toolu_2', name: 'get_weather', args: '{"city":"Rome"}' },
  ],
})
/** Up to the frame with the finish reason. */
const cuts = fc.array(fc.integer({ min: 1, max: frames.length - 2 }), { minLength: 1, maxLength: 2 })
const spliced = (at: number[]) => at.map((cut) => frames.slice(0, cut).join('')).join('') + frames.join('')

function said(dialect: Dialect, text: string) {
  const parts = answerOf(dialect, text, true).choices[0]?.parts ?? []
  const calls = parts.flatMap((part) => (part.t === 'tool_call' ? [[part.id, part.name, part.args]] : []))
  return { text: parts.map((part) => (part.t === 'text' ? part.text : '')).join(''), calls }
}

const once = {
  text: 'Let me look.',
  calls: [
    ['toolu_1', 'get_weather', args],
    ['toolu_2', 'get_weather', '{"city":"Rome"}'],
  ],
}

it.each(['chat', 'responses', 'generate_content'] as const)('a %s caller gets text and calls once', (caller) => {
  fc.assert(
    fc.property(cuts, (at) => {
      const events = eventsOf(messagesDialect.decodeStream(testHop({ caller })), spliced(at))
      const driver = DRIVERS[caller]
      const text = streamText(driver, events, warningCodec(driver, { caller, upstream: 'messages' }))
      expect(said(caller, text)).toEqual(once)
    }),
  )
})

it('the byte lane gives text and calls once', () => {
  fc.assert(
    fc.property(cuts, (at) => {
      const lane = messagesDialect.filterStream(testHop({ caller: 'messages', stream: true }))
      let out = ''
      for (const frame of framesOf(spliced(at))) {
        const kept = lane.frame(frame)
        if (kept !== null) out += typeof kept === 'string' ? kept : new TextDecoder().decode(kept)
      }
      expect(said('messages', out + lane.end())).toEqual(once)
    }),
  )
})
