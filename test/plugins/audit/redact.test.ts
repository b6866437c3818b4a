// Stored details of an action: no secret, limited size, and always the same text for the same value.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnText, redactedDetails } from '../../../plugins/audit/redact.ts'
import { expectWithin, timed } from '../../support/in-time.ts'

const of = (details: Record<string, unknown>): Record<string, unknown> => JSON.parse(redactedDetails(details))

describe('details', () => {
  it('lose their secrets by name, at any depth', () => {
    expect(
      of({
        label: 'ci',
        api_key: 'a',
        apiKey: 'b',
        nested: { deep: [{ client_secret: 'c', keep: 'd' }], Authorization: 'Bearer e' },
        password: 'f',
        passphrase: 'g',
        proxy_url: 'http://h',
        cookie: 'i',
        'x-auth': 'j',
        credentials: { user: 'k', parts: ['l', 3] },
        headers: { 'x-custom': 'm' },
        refreshToken: 'n',
      }),
    ).toEqual({
      label: 'ci',
      api_key: '***',
      apiKey: '***',
      nested: { deep: [{ client_secret: '***', keep: 'd' }], Authorization: '***' },
      password: '***',
      passphrase: '***',
      proxy_url: '***',
      cookie: '***',
      'x-auth': '***',
      credentials: { user: '***', parts: ['***', 3] },
      headers: { 'x-custom': '***' },
      refreshToken: '***',
    })
  })

  it('keep what only sounds like one: numbers, flags, nothing, hints', () => {
    const kept = {
      max_tokens: 100,
      has_api_key: true,
      api_key: null,
      password: '',
      key_hint: '…abcd',
      token_saver: { caveman_level: 'lite' },
      'token_saver.ponytail_level': 'full',
    }
    expect(of(kept)).toEqual(kept)
  })

  it('lose secrets of a known shape wherever they stand', () => {
    const secrets = [
      `gw_${'a'.repeat(47)}`,
      `gmt_${'B'.repeat(43)}`,
      `whsec_${'c+/='.repeat(8)}`,
      'sk-ant-api03-abcdefghijklmnop',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsb2NhbCJ9.c2lnbmF0dXJl',
    ]
    for (const secret of secrets) {
      const text = redactedDetails({ note: `it is ${secret}, keep it`, list: [secret], [secret]: 1 })
      expect(text, secret).not.toContain(secret.slice(8))
      expect(text).toContain('keep it')
    }
    expect(of({ base_url: 'https://user:hunter2@host.test/v1?key=hunter3&a=b' }).base_url).toBe(
      'https://***@host.test/v1?key=***&a=b',
    )
  })

  it('have one text, whatever the order of their members', () => {
    expect(redactedDetails({ b: 1, a: { d: [2, 1], c: 'é' } })).toBe('{"a":{"c":"é","d":[2,1]},"b":1}')
    expect(redactedDetails({ a: undefined, b: [undefined, Number.NaN] })).toBe('{"b":[null,null]}')
  })

  it('are harmless to read back', () => {
    const text = redactedDetails(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'))
    JSON.parse(text)
    expect(text).toContain('"__proto__":{"polluted":true}')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('stay small, whatever comes', async () => {
    let deep: Record<string, unknown> = {}
    for (let i = 0; i < 10_000; i++) deep = { deep }
    const huge = {
      deep,
      wide: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i])),
      long: 'x'.repeat(5_000_000),
      list: Array.from({ length: 100_000 }, () => ['a', 'b']),
      dashes: 'eyJ-'.repeat(500_000),
      slashes: '//'.repeat(500_000),
    }
    const redact = () => {
      for (const [name, value] of Object.entries(huge))
        expect(redactedDetails({ [name]: value }).length, name).toBeLessThan(17_000)
      expect(redactedDetails(huge).length).toBeLessThan(17_000)
    }
    // Quadratic time would take minutes.
    await expectWithin(20_000, () => timed(redact))
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`member_${i}`, 'x'.repeat(900)]))
    expect(of(many)).toMatchObject({ truncated: true, members: expect.arrayContaining(['member_0']) })
  })

  it('are JSON, bounded and canonical for any value there is, with no canary under a secret name', () => {
    const canary = 'CANARY-7f3a9'
    const names = fc.constantFrom('key', 'api_key', 'Secret', 'authToken', 'PASSWORD', 'proxyUrl', 'x_authorization', 'cookies')
    const secret = fc.oneof(
      fc.constant(canary),
      fc.array(fc.constant(canary), { maxLength: 3 }),
      fc.constant({ a: { b: canary } }),
    )
    const shape = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), names, secret)
    fc.assert(
      fc.property(shape, fc.array(fc.string(), { maxLength: 5 }), ([rest, name, value], path) => {
        const inner: Record<string, unknown> = { ...rest, [name]: value }
        const details = path.reduce<Record<string, unknown>>((object, step) => ({ [step]: object }), inner)
        const text = redactedDetails(details)
        expect(text).not.toContain(canary)
        expect(text.length).toBeLessThan(17_000)
        expect(redactedDetails(JSON.parse(text) as Record<string, unknown>)).toBe(text)
      }),
      { seed: 11, numRuns: 500 },
    )
  })
})

describe('a column', () => {
  it('is text that every engine gives back as it was', () => {
    expect(columnText('a\0b', 10)).toBe('a\uFFFDb')
    expect(columnText('x\uD800y', 10)).toBe('x\uFFFDy')
    expect(columnText('😀😀', 3)).toBe('😀\uFFFD')
    expect(columnText('x'.repeat(900), 200)).toHaveLength(200)
  })
})
