// `/dl/*`: files of a folder with their tag and in parts, no file outside of it, and redirects with the path as it was sent.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/index.ts'
import { namesOf } from '../../../plugins/downloads/path.ts'
import { spanOf } from '../../../plugins/downloads/range.ts'
import { rawHttp } from '../../adapters/node/support.ts'

const SECRET = 'a line that no answer may hold'
const BYTES = Uint8Array.from({ length: 1000 }, (_, index) => index % 251)
const outside = mkdtempSync(join(tmpdir(), 'hookgate-dl-'))
const dir = join(outside, 'dist')
const gateways: TestGateway[] = []
let t: TestGateway
let moved: TestGateway
let unset: TestGateway

beforeAll(async () => {
  mkdirSync(join(dir, 'v1'), { recursive: true })
  writeFileSync(join(outside, 'secret.txt'), SECRET)
  writeFileSync(join(dir, 'hookgate.tgz'), BYTES)
  writeFileSync(join(dir, 'empty.bin'), '')
  writeFileSync(join(dir, 'v1/latest.json'), '{}')
  writeFileSync(join(dir, 'install.sh'), '#!/bin/sh\n')
  writeFileSync(join(dir, 'a b.txt'), 'spaces')
  symlinkSync(join(outside, 'secret.txt'), join(dir, 'link.txt'))
  symlinkSync(outside, join(dir, 'up'))
  symlinkSync(join(dir, 'v1'), join(dir, 'latest'))
  const environments: Record<string, string>[] = [
    { DIST_DIR: dir },
    { DIST_DIR: dir, DIST_BASE_URL: 'https://cdn.example/releases/' },
    {},
  ]
  for (const env of environments) gateways.push(await createTestGateway({ env }))
  ;[t, moved, unset] = gateways as [TestGateway, TestGateway, TestGateway]
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.close()
  rmSync(outside, { recursive: true, force: true })
})

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> => t.fetch(path, { headers })

it('serves a file whole, with type, length, tag and the time that caches keep it', async () => {
  const answer = await get('/dl/hookgate.tgz')
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(BYTES)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '1000',
    'cache-control': 'public, max-age=300',
    'accept-ranges': 'bytes',
    etag: expect.stringMatching(/^"\w+-\w+"$/),
  })
  for (const [path, type] of [
    ['v1/latest.json', 'application/json'],
    ['latest/latest.json', 'application/json'],
    ['install.sh', 'text/x-shellscript; charset=utf-8'],
    ['a%20b.txt', 'text/plain; charset=utf-8'],
  ])
    expect((await get(`/dl/${path}`)).headers.get('content-type')).toBe(type)
  expect(await (await get('/dl/empty.bin')).text()).toBe('')
})

it('answers HEAD as GET, without a body', async () => {
  const answer = await t.fetch('/dl/hookgate.tgz', { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '1000', ''])
})

it('answers 304 for the current tag, and the file for another one', async () => {
  const tag = (await get('/dl/install.sh')).headers.get('etag') as string
  for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const answer = await get('/dl/install.sh', { 'if-none-match': header })
    expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', tag])
  }
  expect((await get('/dl/install.sh', { 'if-none-match': '"other"' })).status).toBe(200)
  utimesSync(join(dir, 'install.sh'), 1, 1)
  expect((await get('/dl/install.sh', { 'if-none-match': tag })).status).toBe(200)
})

it('serves every part that a client may ask for', async () => {
  const header = fc.oneof(
    fc.tuple(fc.nat(1200), fc.nat(1200)).map(([one, other]) => `bytes=${Math.min(one, other)}-${Math.max(one, other)}`),
    fc.nat(1200).map((start) => `bytes=${start}-`),
    fc.nat(1200).map((count) => `bytes=-${count}`),
  )
  await fc.assert(
    fc.asyncProperty(header, async (range) => {
      const answer = await get('/dl/hookgate.tgz', { range })
      const [, first = '', last = ''] = /=(\d*)-(\d*)/.exec(range) as RegExpExecArray
      const expected =
        first === ''
          ? last === '0'
            ? []
            : BYTES.slice(-Number(last))
          : BYTES.slice(Number(first), last === '' ? 1000 : Number(last) + 1)
      if (expected.length === 0) {
        expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */1000'])
        return
      }
      expect(answer.status).toBe(206)
      expect(new Uint8Array(await answer.arrayBuffer())).toEqual(expected)
      const [, start, end] = /^bytes (\d+)-(\d+)\/1000$/.exec(answer.headers.get('content-range') as string) as RegExpExecArray
      expect([Number(end) - Number(start) + 1, BYTES[Number(start)]]).toEqual([expected.length, expected[0]])
    }),
    { numRuns: 60, seed: 7 },
  )
})

it('serves the whole file for several ranges, a malformed one, and a part of another version', async () => {
  const tag = (await get('/dl/hookgate.tgz')).headers.get('etag') as string
  const others: Record<string, string>[] = [
    { range: 'bytes=0-1,5-6' },
    { range: 'bytes=9-3' },
    { range: 'lines=1-2' },
    { range: 'bytes=0-9', 'if-range': '"old"' },
  ]
  for (const headers of others) expect((await get('/dl/hookgate.tgz', headers)).status).toBe(200)
  expect((await get('/dl/hookgate.tgz', { range: 'bytes=0-9', 'if-range': tag })).status).toBe(206)
  expect(spanOf('bytes=0-', 0)).toBe('unsatisfiable')
})

/** Ways to leave a folder, or to name it. */
const ESCAPES = [
  ...['..', '%2e%2e', '%2E%2E', '.%2e', '%252e%252e', '..%00', '....', '%c0%ae%c0%ae', '%uff0e%uff0e'].flatMap((up) =>
    ['/', '%2f', '%2F', '%5c', '%5C', '\\', '%252f', '//'].flatMap((separator) => [
      `${up}${separator}secret.txt`,
      `v1/${up}${separator}${up}${separator}secret.txt`,
    ]),
  ),
  ...[
    'link.txt',
    'up/secret.txt',
    'up/dist/hookgate.tgz/../secret.txt',
    'v1',
    'v1/',
    '.',
    '%2e',
    'secret.txt',
    'hookgate.tgz%00.txt',
  ],
  ...[
    `${'/'}etc/passwd`,
    '%2fetc%2fpasswd',
    'file:%2f%2f%2fetc%2fpasswd',
    'C:%5csecret.txt',
    'C%3A/secret.txt',
    'hookgate.tgz:stream',
  ],
  ...[
    'hookgate.tgz/',
    'hookgate.tgz//',
    '//hookgate.tgz',
    '%',
    '%zz',
    '%ff',
    '~/secret.txt',
    `${'a/'.repeat(500)}x`,
    'x'.repeat(5000),
  ],
]

it.each([
  ['from the folder', () => t],
  ['through the redirect', () => moved],
])('no spelling leads out of the folder: %s', async (_name, gateway) => {
  expect(ESCAPES.length).toBeGreaterThanOrEqual(100)
  const { port } = await gateway().listen()
  for (const path of ESCAPES) {
    const answer = await rawHttp(port, `GET /dl/${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    expect(answer, path).not.toContain(SECRET)
    const location = /^location: (.*)\r$/im.exec(answer)?.[1]
    if (location === undefined) expect(answer, path).toMatch(/^HTTP\/1\.1 404 [\s\S]*"error"/)
    // Names that a file may have are passed on; they stay below the base.
    else expect(new URL(location).href, path).toMatch(/^https:\/\/cdn\.example\/releases\/[^/]/)
  }
})

it('keeps no name that a path could lead out with, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('.', '/', '\\', '%2e', '%2f', '%5c', '%00', 'a', '%25', ':') }), (text) => {
      for (const name of namesOf(text) ?? []) expect(name).not.toMatch(/^\.{0,2}$|[/\\:\0]/)
    }),
    { seed: 3 },
  )
})

it('redirects with the encoded path and the query as they were sent', async () => {
  for (const path of ['hookgate-1.0.0.tgz', 'a%20b/c%2Bd.txt', 'v1/caf%C3%A9.sh?x=%2F..&y', '%252e%252e', ''])
    expect((await moved.fetch(`/dl/${path}`, { redirect: 'manual' })).headers.get('location')).toBe(
      `https://cdn.example/releases/${path}`,
    )
  const head = await moved.fetch('/dl/x', { method: 'HEAD', redirect: 'manual' })
  expect([head.status, head.headers.get('location')]).toEqual([302, 'https://cdn.example/releases/x'])
})

it('has no list of a folder, and index.json at /dl/', async () => {
  expect((await get('/dl/')).status).toBe(404)
  writeFileSync(join(dir, 'index.json'), '["v1"]')
  expect(await (await get('/dl/')).json()).toEqual(['v1'])
})

it('answers 404 with the envelope while neither variable is set, and 405 for writes', async () => {
  const answer = await unset.fetch('/dl/hookgate.tgz')
  expect([answer.status, await answer.json()]).toEqual([404, { error: expect.objectContaining({ code: 'unknown_url' }) }])
  expect((await t.fetch('/dl/hookgate.tgz', { method: 'DELETE' })).status).toBe(405)
})
