import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SwapRemoveList } from '../../../core/collections/swap-remove-list.ts'
import { headerBag } from '../../../core/http/headers.ts'
import { randomId, requestId } from '../../../core/ids/ids.ts'
import { hasBigNumber, RawJson, stringify } from '../../../core/json/raw-json.ts'
import { signatureFits, unwrapSignature, wrapSignature } from '../../../core/models/signature.ts'
import { globMatch } from '../../../core/text/glob.ts'
import { credentialsIn, sanitizeMessage } from '../../../core/text/sanitize.ts'
import { expectWithin, timed } from '../../support/in-time.ts'

describe('globs', () => {
  it.each([
    ['*', 'anything/at-all', true],
    ['openai/gpt-4o*', 'openai/gpt-4o-mini', true],
    ['openai/gpt-4?', 'openai/gpt-4', false],
    ['a.c', 'abc', false],
    ['*x*y', 'axbycy', true],
    ['GPT', 'gpt', false],
    ['', '', true],
  ])('%s against %s: %s', (pattern, text, expected) => {
    expect(globMatch(pattern, text)).toBe(expected)
  })

  it('are linear: forty stars against two thousand characters', async () => {
    const pattern = `${'*a'.repeat(40)}b`
    await expectWithin(100, () => timed(() => expect(globMatch(pattern, 'a'.repeat(2000))).toBe(false)))
  })
})

describe('headers', () => {
  it('are case-insensitive, joined by get, apart in all', () => {
    const bag = headerBag(['X-A', '1', 'x-a', '2', 'B', '3'])
    expect([bag.get('x-A'), bag.all('X-a'), bag.has('b'), bag.get('c')]).toEqual(['1, 2', ['1', '2'], true, null])
  })

  it('leave the list they were made from alone', () => {
    const list = ['a', '1']
    const bag = headerBag(list)
    bag.set('b', '2')
    bag.delete('a')
    expect(list).toEqual(['a', '1'])
    expect([...bag]).toEqual([['b', '2']])
  })
})

describe('raw JSON', () => {
  it('keeps the digits of numbers that a parse would round', () => {
    expect(stringify({ input: new RawJson('{"id":12345678901234567890}'), n: 1 })).toBe(
      '{"input":{"id":12345678901234567890},"n":1}',
    )
    expect([hasBigNumber('{"a":1.5}'), hasBigNumber('{"a":12345678901234567890}')]).toEqual([false, true])
  })

  it('stays on one line, and keeps escaped line breaks', () => {
    const pretty = '{\r\n  "a":\r1,\n\n"b": "x\\r\\ny"\n}'
    const written = stringify({ input: new RawJson(pretty) })
    expect(written).not.toMatch(/[\r\n]/)
    expect(JSON.parse(written)).toEqual({ input: { a: 1, b: 'x\r\ny' } })
  })

  it('cannot be forged by text that looks like its marker', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (text, value) => {
        const raw = JSON.stringify(value)
        expect(JSON.parse(stringify({ text, raw: new RawJson(raw), more: [new RawJson('1')] }))).toEqual({
          text,
          raw: JSON.parse(raw),
          more: [1],
        })
      }),
    )
  })
})

describe('signatures', () => {
  it('travel through a foreign dialect and back, plain or as base64', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.constantFrom('plain' as const, 'base64' as const),
        (value, modelFamily, form) => {
          const signature = { dialect: 'messages' as const, modelFamily, value }
          expect(unwrapSignature(wrapSignature(signature, form))).toEqual(signature)
        },
      ),
    )
  })

  it('that are not ours stay the caller’s own', () => {
    for (const text of ['EqQBCgIYAhIM', 'gw1.', 'gw1.nope.x.eA', 'gw1.chat.x']) expect(unwrapSignature(text)).toBeNull()
  })

  it('fit only their own dialect and family', () => {
    const signature = { dialect: 'messages' as const, modelFamily: 'claude', value: 'x' }
    expect([
      signatureFits(signature, 'messages', 'claude'),
      signatureFits(signature, 'messages', 'other'),
      signatureFits(signature, 'chat', 'claude'),
      signatureFits(undefined, 'chat', ''),
    ]).toEqual([true, false, false, false])
  })
})

describe('ids', () => {
  it('are unique, prefixed, and request ids sort by time', () => {
    const ids = Array.from({ length: 2000 }, () => randomId('call_'))
    expect(new Set(ids).size).toBe(2000)
    expect(ids.every((id) => /^call_[0-9A-Za-z]{24}$/.test(id))).toBe(true)
    const requests = Array.from({ length: 2000 }, requestId)
    for (const id of requests) expect(id).toMatch(/^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(requests).size).toBe(2000)
    const times = requests.map((id) => Number.parseInt(id.slice(4, 17).replace('-', ''), 16))
    expect([...times].sort((a, b) => a - b)).toEqual(times)
    expect(Math.abs((times.at(-1) as number) - Date.now())).toBeLessThan(5000)
  })
})

describe('messages to clients', () => {
  it('are one line, bounded, without paths and without secrets', () => {
    expect(sanitizeMessage('first\nsecond')).toBe('first')
    expect(sanitizeMessage('open /home/x/app/secret.js failed')).toBe('open [path] failed')
    expect(sanitizeMessage('key sk-very-secret refused', ['sk-very-secret'])).toBe('key *** refused')
    expect(sanitizeMessage('x'.repeat(5000)).length).toBe(1000)
  })

  it('mask a secret whole where another one is a part of it', () => {
    expect(sanitizeMessage('sk-12345678-rest', ['sk-12345678', 'sk-12345678-rest'])).toBe('***')
  })

  it('keep the words of an AWS signature, and mask its values', () => {
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request'
    const signature = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`
    const mask = (text: string) => sanitizeMessage(text, credentialsIn({ authorization }))
    const said = 'The Credential should be scoped to a region; the request signature does not match.'
    expect(mask(said)).toBe(said)
    for (const secret of [scope, signature, authorization]) expect(mask(`Got ${secret}.`)).not.toContain(secret)
  })

  it('know the credentials among headers, with and without their scheme or cookie name', () => {
    const credentials = credentialsIn({
      authorization: 'Bearer abcdefgh-1',
      'X-Api-Key': 'k-1',
      cookie: 'sid=0123456789; theme=dark',
      'x-team': 'research-and-things',
      'cf-access-client-secret': 'sss',
    })
    expect(credentials.sort()).toEqual(
      ['Bearer abcdefgh-1', 'abcdefgh-1', 'k-1', 'sid=0123456789; theme=dark', '0123456789', 'sss'].sort(),
    )
  })
})

describe('the bag', () => {
  it('keeps exactly what was added and not removed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 60 }), (steps) => {
        const bag = new SwapRemoveList<number>()
        const model: { value: number; ticket: ReturnType<SwapRemoveList<number>['add']> }[] = []
        for (const step of steps) {
          if (step < 12 || model.length === 0) model.push({ value: step, ticket: bag.add(step) })
          else
            bag.remove((model.splice(step % model.length, 1)[0] as { ticket: ReturnType<SwapRemoveList<number>['add']> }).ticket)
        }
        expect([...bag.values()].sort()).toEqual(model.map(({ value }) => value).sort())
        expect(bag.size).toBe(model.length)
      }),
    )
  })
})
