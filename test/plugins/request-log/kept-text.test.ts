// The parts of a body that are removed before it is stored, and the place where it is cut.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { clippedUtf8, keptText, withoutSecrets } from '../../../plugins/request-log/bodies/kept-text.ts'
import { withoutMedia } from '../../../plugins/request-log/bodies/media.ts'
import { expectWithin, timed } from '../../support/in-time.ts'

describe('the cap', () => {
  it('is kept at every split of every kind of character', () => {
    const text = 'aé€😀'.repeat(3)
    const bytes = Buffer.from(text)
    for (let max = 0; max <= bytes.length + 1; max++) {
      const cut = clippedUtf8(text, max)
      expect(text.startsWith(cut.text), String(max)).toBe(true)
      expect(cut.truncated).toBe(max < bytes.length)
      const size = Buffer.byteLength(cut.text)
      expect(size).toBeLessThanOrEqual(max)
      // Everything that fits is there.
      if (cut.truncated) expect(size + Buffer.byteLength([...text.slice(cut.text.length)][0] as string)).toBeGreaterThan(max)
    }
  })

  it('is counted after media and secrets are out', () => {
    const body = JSON.stringify({ data: randomBytes(500_000).toString('base64'), media_type: 'image/png', after: 'x' })
    expect(keptText(body, 200)).toEqual({
      text: '{"data":"[media 500000 bytes image/png]","media_type":"image/png","after":"x"}',
      truncated: false,
    })
  })

  it('leaves no beginning of a secret behind', () => {
    const secret = `sk-${'a1B2'.repeat(20)}`
    for (let at = 65_536 + 60; at < 65_536 + 140; at++) {
      const { text } = keptText(`${' '.repeat(at)}${secret} and more ${'.'.repeat(200)}`, 100_000)
      expect(text).not.toContain('a1B2')
    }
  })
})

describe('media', () => {
  const png = randomBytes(90).toString('base64')
  const note = '[media 90 bytes image/png]'
  it.each([
    ['a data URL', { image_url: { url: `data:image/png;base64,${png}` } }, { image_url: { url: note } }],
    [
      'with its type before it',
      { source: { type: 'base64', media_type: 'image/png', data: png } },
      { source: { type: 'base64', media_type: 'image/png', data: note } },
    ],
    [
      'with its type behind it',
      { inlineData: { data: png, mimeType: 'image/png' } },
      { inlineData: { data: note, mimeType: 'image/png' } },
    ],
    ['audio with a format', { data: png, format: 'wav' }, { data: '[media 90 bytes wav]', format: 'wav' }],
    ['without a type', { b64_json: png }, { b64_json: '[media 90 bytes]' }],
    [
      'the type of another object is not taken',
      [{ mimeType: 'a/b' }, { data: png }],
      [{ mimeType: 'a/b' }, { data: '[media 90 bytes]' }],
    ],
    ['inside a text', { text: `see ![x](data:image/png;base64,${png}) there` }, { text: `see ![x](${note}) there` }],
    ['long and under any name', { blob: randomBytes(6000).toString('base64') }, { blob: '[media 6000 bytes]' }],
  ])('%s', (_name, body, expected) => {
    for (const space of [0, 2]) expect(JSON.parse(withoutMedia(JSON.stringify(body, null, space)))).toEqual(expected)
  })

  it.each([
    { content: 'An ordinary text of more than sixty-four characters, with "quotes", \\ and {braces}; base64, it is not.' },
    { data: 'A text under that name that is long enough to be looked at, but has spaces.' },
    { url: 'https://example.com/a/rather/long/path/that/goes/on/and/on/and/on?with=query&and=more' },
    { arguments: '{"data":"short","url":"x"}' },
    { id: 'a'.repeat(64), signature: 'b'.repeat(500) },
  ])('leaves %j as it is', (body) => {
    expect(withoutMedia(JSON.stringify(body))).toBe(JSON.stringify(body))
  })

  it('leaves what is no JSON as it is, and finds no end where there is none', () => {
    for (const text of ['', '"', '{"a', '\\"\\"', '{"data":"', 'plain']) expect(withoutMedia(text)).toBe(text)
  })
})

describe('secrets', () => {
  it.each([
    `sk-${'a'.repeat(20)}`,
    `sk-ant-api03-${'x'.repeat(40)}`,
    `gw_${'A1'.repeat(20)}`,
    `gmt_${'A1'.repeat(20)}`,
    `AKIA${'ABCD'.repeat(4)}`,
    `ghp_${'a1'.repeat(18)}`,
    `github_pat_${'a1'.repeat(18)}`,
    `xoxb-${'1234567890'}-abc`,
    `AIza${'b'.repeat(35)}`,
    `glpat-${'c'.repeat(20)}`,
    `npm_${'d'.repeat(36)}`,
    `sk_live_${'e'.repeat(24)}`,
    `whsec_${'Zm9v'.repeat(8)}`,
    `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIiOiIx'}.abc-def`,
    '-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----',
    'password=Tr0ub4dor&3-horse9X'.replace('&', '%'),
  ])('%s is masked wherever it stands', (secret) => {
    for (const [before, after] of [
      ['', ''],
      ['{"content":"use ', ' please"}'],
      ['\\n', '\\n'],
    ] as const) {
      const masked = withoutSecrets(`${before}${secret}${after}`)
      expect(masked).not.toContain(secret)
      expect(masked.startsWith(before)).toBe(true)
      expect(masked.endsWith(after)).toBe(true)
      expect(masked.length).toBeLessThan(before.length + after.length + 24)
    }
  })

  it.each([
    'max_tokens: 1000000000000000000',
    'token: aaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'task-force-one-two-three-four-five',
    'sk-short',
    'AKIAlowercaseletters1',
  ])('%s is none', (text) => {
    expect(withoutSecrets(text)).toBe(text)
  })

  it('takes linear time on what is made to be slow', async () => {
    const size = 400_000
    for (const piece of [
      'sk-',
      'eyJ-',
      'eyJaaaaaaaaa.',
      'password=',
      '-----BEGIN ',
      'data:a/',
      '"data":"',
      'x;base64,',
      '\\"',
      'gw_-',
    ]) {
      const text = piece.repeat(Math.ceil(size / piece.length))
      const kept = () => {
        keptText(`{"a":"${text}"}`, 4 * size)
        keptText(text, 4 * size)
      }
      await expectWithin(2000, () => timed(kept), piece)
    }
  })
})
