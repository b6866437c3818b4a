// Lists of thoughts that a client truncated, changed, copied or moved, and lists in requests to Gemini.
import { describe, expect, it } from 'vitest'
import { wrapSignature } from '../../../../core/models/signature.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { canonicalRequest } from '../../../support/dialects.ts'
import { codec, decode, encode, toolCall } from './support.ts'
import { back, carriersOf, redacted, said, secret, sentTo, thought, WAYS, whole } from './thought-round-trip.ts'

const SENTINEL = 'skip_thought_signature_validator'

describe('what a client does to a list', () => {
  const told = whole([thought('a', 'one'), toolCall('c1', 'f')])
  const [carrier] = carriersOf(told) as string[]
  const withCarrier = (thoughtSignature: string): JsonObject[] => [
    { functionCall: { id: 'c1', name: 'f', args: {} }, thoughtSignature },
  ]
  const enclosed = (value: string): string => wrapSignature(secret(value), 'base64')

  it('broken in any way it is ignored, and reaches no upstream', () => {
    const signature = carrier as string
    const broken = [
      ...[1, 2, 3, 5, 20].map((cut) => signature.slice(0, -cut)),
      `${signature}!`,
      ...['thoughts/1:', 'thoughts/1:{}', 'thoughts/1:[1]', 'thoughts/1:[{"text":1}]', 'thoughts/1:[{"summary":"x"}]'].map(
        enclosed,
      ),
      ...['thoughts/1:[{"details":[{"a":{}}]}]', 'thoughts/1:[{"signature":null}]', `thoughts/1:${'['.repeat(9999)}`].map(
        enclosed,
      ),
      ...['thoughts/2:[{"text":"a","signature":"one"}]', 'thoughts/0:x', `thoughts/1:[{"text":"${'a'.repeat(65536)}"}]`].map(
        enclosed,
      ),
    ]
    for (const text of broken) {
      const parts = back(withCarrier(text))
      expect(parts, text).toEqual([toolCall('c1', 'f')])
      expect(JSON.stringify(sentTo('messages', parts))).not.toMatch(/thinking|thoughts/)
      const { messages } = decode({ contents: [{ parts: [{ text: 'x' }] }, { role: 'model', parts: withCarrier(text) }] })
      expect(encode(canonicalRequest({ model: 'm', source: 'generate_content', messages })).text).not.toContain('Z3cx')
    }
  })

  it('in the other base64 alphabet, which some SDKs send, it is the same list', () => {
    const plain = (carrier as string).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    expect(back(withCarrier(plain))).toEqual([thought('a', 'one'), toolCall('c1', 'f')])
  })

  it('copied to every call it is opened once', () => {
    const calls = ['c1', 'c2'].map((id) => ({ functionCall: { id, name: 'f', args: {} }, thoughtSignature: carrier as string }))
    expect(back(calls)).toEqual([thought('a', 'one'), toolCall('c1', 'f'), toolCall('c2', 'f')])
  })

  it('moved to another part it is ignored', () => {
    for (const part of [{ text: 'x' }, { text: 'x', thought: true }, { text: '', thought: true }] as JsonObject[]) {
      const parts = back([{ ...part, thoughtSignature: carrier as string }])
      expect(JSON.stringify(parts)).not.toContain('signature')
    }
  })

  it('a client that changes the text of a kept thought does not change what was signed', () => {
    const trimmed = told.map((part) => (part.thought ? { ...part, text: 'shortened' } : part))
    expect(back(trimmed)).toEqual([thought('a', 'one'), toolCall('c1', 'f')])
  })

  it('a client that keeps some of the thoughts gets the others back in their order', () => {
    const parts = [thought('a', 'one'), said('x'), thought('b', 'two'), thought('c', 'three'), toolCall('c1', 'f')]
    const some = whole(parts).filter((part) => !['a', 'c'].includes(part.text as string))
    expect(back(some).filter((part) => part.t === 'reasoning')).toEqual([parts[0], parts[2], parts[3]])
  })

  it('a turn of very many parts and thoughts is read', () => {
    const texts = Array.from({ length: 150_000 }, () => ({ text: 'x', thoughtSignature: 'AA==' }))
    const signatures = Array.from({ length: 2500 }, (_, index) => `s${index}`)
    const thoughts = signatures.map((value) => ({
      ...{ text: 'x', thought: true, thoughtSignature: wrapSignature(secret(value), 'base64') },
    }))
    const list = enclosed(`thoughts/1:${JSON.stringify(signatures.map((signature) => ({ signature })))}`)
    expect(back([...texts, ...thoughts, ...withCarrier(list)])).toHaveLength(152_501)
  })
})

describe('towards Gemini', () => {
  const parts = [thought('a', 'one'), redacted('R'), toolCall('c1', 'f'), toolCall('c2', 'f')]

  it.each(WAYS)('no list is sent (%s, thoughts %s)', (_told, _what, tell, client) => {
    const { messages } = decode({ contents: [{ parts: [{ text: 'go' }] }, { role: 'model', parts: client(tell(parts)) }] })
    for (const model of ['gemini-3-flash', 'gemini-2.5-flash']) {
      const { body, text } = encode(canonicalRequest({ model, source: 'generate_content', messages }), codec({ model }))
      expect(text).not.toMatch(/Z3cx|one|"R"/)
      const [, turn] = body.contents as { parts: JsonObject[] }[]
      expect(turn?.parts.map((part) => part.thoughtSignature)).toEqual([
        model === 'gemini-3-flash' ? SENTINEL : undefined,
        undefined,
      ])
    }
  })
})
