// Reasoning secrets of other vendors through a client that drops thought parts and keeps its function calls unchanged.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import type { JsonObject, Part, Signature } from '../../../../core/types/request/canonical.ts'
import { toolCall } from './support.ts'
import {
  back,
  carriersOf,
  detailed,
  dropped,
  kept,
  listOf,
  redacted,
  said,
  secret,
  sentTo,
  streamed,
  summarized,
  TELLINGS,
  thought,
  unsigned,
  WAYS,
  whole,
} from './thought-round-trip.ts'

describe.each(WAYS)('secrets of an answer (%s) whose thoughts the client %s', (_told, _what, tell, client) => {
  it('reach a messages upstream once each, signed and redacted, as they were said', () => {
    const parts = [
      thought('Let me see. Well.', 'one'),
      redacted('R1'),
      thought('', 'omitted'),
      said('I will look.'),
      toolCall('c1', 'f', '{"a":1}'),
      toolCall('c2', 'f'),
    ]
    expect(sentTo('messages', back(client(tell(parts))))).toEqual([
      { type: 'thinking', thinking: 'Let me see. Well.', signature: 'one' },
      { type: 'redacted_thinking', data: 'R1' },
      { type: 'thinking', thinking: '', signature: 'omitted' },
      { type: 'text', text: 'I will look.' },
      expect.objectContaining({ type: 'tool_use', id: 'c1', input: { a: 1 } }),
      expect.objectContaining({ type: 'tool_use', id: 'c2' }),
    ])
  })

  it('reach a responses upstream once each, with the parts of the summary', () => {
    const parts = [
      summarized('E1', 'First.', 'Second.'),
      { t: 'reasoning', text: '', signature: secret('E2', 'responses') } as Part,
      said('So.'),
      toolCall('c1', 'f'),
    ]
    const sent = sentTo('responses', back(client(tell(parts))))
    expect(sent.slice(0, 2)).toEqual([
      {
        type: 'reasoning',
        summary: ['First.', 'Second.'].map((text) => ({ type: 'summary_text', text })),
        encrypted_content: 'E1',
      },
      { type: 'reasoning', summary: [], encrypted_content: 'E2' },
    ])
    expect(JSON.stringify(sent).match(/E1|E2/g)).toEqual(['E1', 'E2'])
  })

  it('reach a chat upstream once each, beside their text', () => {
    const details: JsonObject[] = [
      { type: 'reasoning.text', text: 'Hm. Well.', signature: 's', index: 0 },
      { type: 'reasoning.encrypted', data: 'ZW5j', id: 'e1', format: 'x', index: 1 },
    ]
    const parts = [detailed('Hm. Well.', ...details), toolCall('c1', 'f'), toolCall('c2', 'f')]
    expect(sentTo('chat', back(client(tell(parts))))).toMatchObject([
      { reasoning: 'Hm. Well.', reasoning_details: details, tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
    ])
  })

  it('are on the first call after the thoughts; later thoughts of the answer are on the call after them', () => {
    const parts = [thought('a', 'one'), toolCall('c1', 'f'), toolCall('c2', 'f'), thought('b', 'two'), toolCall('c3', 'f')]
    const told = tell(parts)
    expect(carriersOf(told)).toEqual([expect.any(String), undefined, expect.any(String)])
    expect(carriersOf(told).map((carrier) => /one|two/.exec(listOf(carrier))?.[0])).toEqual(['one', undefined, 'two'])
    expect(back(client(told))).toEqual(parts)
    expect(back(client(told), true)).toEqual(parts)
  })

  it('bring the unsigned thoughts beside them along, once', () => {
    const parts = [unsigned('Loose. '), thought('Signed.', 'one'), unsigned('Loose. '), said('x'), toolCall('c1', 'f')]
    const came = back(client(tell(parts))).filter((part) => part.t === 'reasoning')
    expect(came).toEqual(parts.slice(0, 3))
  })

  it('are carried up to 64 KiB of the list, and beyond that by the thought parts alone', () => {
    const frame = listOf(carriersOf(tell([thought('', 'one'), toolCall('c1', 'f')]))[0]).length + ',"text":""'.length - 1
    const fitting = [thought('é'.repeat((64 * 1024 - frame) >> 1), 'one'), toolCall('c1', 'f')]
    expect(back(client(tell(fitting)))).toEqual(fitting)
    const parts = [thought('é'.repeat(32 * 1024), 'one'), toolCall('c1', 'f'), thought('b', 'two'), toolCall('c2', 'f')]
    const told = tell(parts)
    expect(carriersOf(told)).toEqual([undefined, expect.any(String)])
    expect(back(client(told))).toEqual(client === kept ? parts : parts.slice(1))
  })
})

describe.each(TELLINGS)('an answer without foreign secrets (%s)', (_, tell) => {
  it('has no list: unsigned thoughts alone are not carried', () => {
    const told = tell([unsigned('hm'), toolCall('c1', 'f')])
    expect(JSON.stringify(told)).not.toContain('thoughtSignature')
  })

  it('of Gemini keeps its own signatures as they are, on the call and on a thought', () => {
    const own = (value: string) => ({ signature: secret(value, 'generate_content') })
    const told = tell([
      { t: 'reasoning', text: 'hm', ...own('ownThought') },
      toolCall('c1', 'f', '{}', own('ownCall')),
      toolCall('c2', 'f'),
    ])
    expect(carriersOf(told)).toEqual(['ownCall', undefined])
    expect(told.flatMap((part) => (part.thought ? [part.thoughtSignature] : [])).filter(Boolean)).toEqual(['ownThought'])
  })

  it('a signature of the call itself has precedence over a list', () => {
    const signature: Signature = { dialect: 'chat', modelFamily: '', value: 'c' }
    const told = tell([thought('a', 'one'), toolCall('c1', 'f', '{}', { signature }), toolCall('c2', 'f')])
    const [first, second] = carriersOf(told)
    expect(unwrapSignature(first as string)).toEqual(signature)
    expect(listOf(second)).toContain('one')
  })
})

const PIECES = fc.array(
  fc.oneof(
    fc.record({ t: fc.constant('signed' as const), text: fc.string({ maxLength: 6 }) }),
    fc.record({ t: fc.constant('redacted' as const) }),
    fc.record({ t: fc.constant('unsigned' as const), text: fc.string({ minLength: 1, maxLength: 6 }) }),
    fc.record({ t: fc.constant('text' as const), text: fc.string({ minLength: 1, maxLength: 6 }) }),
    fc.record({ t: fc.constant('call' as const), args: fc.constantFrom('', '{}', '{"a":1}') }),
  ),
  { maxLength: 12 },
)

it('property: every signed thought before a call comes back once, in order, before its call; calls and texts stay', () => {
  const isSigned = (part: Part) => part.t === 'reasoning' && (part.signature ?? part.redacted) !== undefined
  const calls = (parts: readonly Part[]) => parts.flatMap((part) => (part.t === 'tool_call' ? [part.id] : []))
  const text = (parts: readonly Part[]) => parts.map((part) => (part.t === 'text' ? part.text : '')).join('')
  /** Returns the signed thoughts before each call. */
  const signed = (parts: readonly Part[]) =>
    parts.flatMap((part, index) => (part.t === 'tool_call' ? [parts.slice(0, index).filter(isSigned)] : []))
  fc.assert(
    fc.property(
      PIECES,
      fc.constantFrom(whole, streamed),
      fc.constantFrom(dropped, kept),
      fc.boolean(),
      (pieces, tell, client, asMany) => {
        const parts = pieces.map((piece, at): Part => {
          if (piece.t === 'signed') return thought(piece.text, `s${at}`)
          if (piece.t === 'redacted') return redacted(`r${at}`)
          if (piece.t === 'unsigned') return unsigned(piece.text)
          if (piece.t === 'text') return said(piece.text)
          return toolCall(`c${at}`, 'f', piece.args)
        })
        // A following text shows that a call without arguments is complete.
        const came = back(client(tell([...parts, said('.')])), asMany)
        expect(calls(came)).toEqual(calls(parts))
        expect(text(came)).toBe(`${text(parts)}.`)
        expect(signed(came)).toEqual(signed(parts))
        const secrets = came.filter(isSigned)
        expect(new Set(secrets.map((part) => JSON.stringify(part))).size).toBe(secrets.length)
        if (client === kept) expect(secrets.length).toBe(parts.filter(isSigned).length)
      },
    ),
    { numRuns: 400 },
  )
})
