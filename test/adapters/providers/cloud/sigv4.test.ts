// AWS's published test vectors of Signature Version 4 (aws-sig-v4-test-suite).
import { describe, expect, it } from 'vitest'
import { signed } from '../../../../adapters/providers/cloud/sigv4.ts'

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0)
const SCOPE = 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request'

interface Vector {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers?: string[]
  readonly body?: string
  readonly signedHeaders: string
  readonly signature: string
}

const FORM = ['content-type', 'application/x-www-form-urlencoded']

const VECTORS: readonly Vector[] = [
  {
    name: 'get-vanilla',
    method: 'GET',
    path: '/',
    signedHeaders: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    method: 'GET',
    path: '/?Param2=value2&Param1=value1',
    signedHeaders: 'host;x-amz-date',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'get-utf8',
    method: 'GET',
    path: '/ሴ',
    signedHeaders: 'host;x-amz-date',
    signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  {
    name: 'get-relative-relative (normalize-path)',
    method: 'GET',
    path: '/example1/example2/../..',
    signedHeaders: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-slash-pointless-dot (normalize-path)',
    method: 'GET',
    path: '/./example',
    signedHeaders: 'host;x-amz-date',
    signature: 'ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    path: '/',
    signedHeaders: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    path: '/',
    headers: FORM,
    body: 'Param1=value1',
    signedHeaders: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
]

describe('Signature Version 4', () => {
  it.each(VECTORS)('$name', async ({ method, path, headers = [], body, signedHeaders, signature }) => {
    const wire = {
      method,
      url: `https://example.amazonaws.com${path}`,
      headers: [...headers],
      body: body === undefined ? null : [new TextEncoder().encode(body)],
    }
    await signed(wire, { keys: KEYS, service: 'service', region: 'us-east-1', now: NOW, allHeaders: true, singleEncode: true })
    const added = Object.fromEntries(
      Array.from({ length: wire.headers.length / 2 }, (_, index) => wire.headers.slice(index * 2, index * 2 + 2)),
    )
    expect(added['x-amz-date']).toBe('20150830T123600Z')
    expect(added.authorization).toBe(`${SCOPE}, SignedHeaders=${signedHeaders}, Signature=${signature}`)
  })

  it('sends the token of temporary credentials, and signs it', async () => {
    const wire = { method: 'GET', url: 'https://example.amazonaws.com/', headers: [] as string[], body: null }
    await signed(wire, { keys: { ...KEYS, sessionToken: 'the-token' }, service: 'service', region: 'us-east-1', now: NOW })
    expect(wire.headers).toContain('the-token')
    expect(wire.headers.at(-1)).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,')
  })

  it('does not sign headers that a hop may change', async () => {
    const wire = { method: 'GET', url: 'https://example.amazonaws.com/', headers: ['accept-encoding', 'identity'], body: null }
    await signed(wire, { keys: KEYS, service: 'service', region: 'us-east-1', now: NOW })
    expect(wire.headers.at(-1)).toContain('SignedHeaders=host;x-amz-date,')
  })
})
