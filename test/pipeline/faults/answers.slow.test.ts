// Faults in which the upstream answers: statuses, errors in 200 answers, broken and empty answers.
import { afterAll, beforeAll, describe, it } from 'vitest'
import { broken, fail, frames, RENDERERS, raw, type Step } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { type Accounts, accounts } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { afterContent, beforeContent, type Cell, type Fault, framesOf } from '../support/faults.ts'

const count = cells('fault matrix, answers')
let world: Accounts
beforeAll(async () => {
  world = await accounts()
})
afterAll(() => world.close())

const same = (step: Step) => () => step
const json = (value: unknown) => raw(200, JSON.stringify(value))
const sse = (list: readonly string[]) => frames(list)
const inner = (upstream: Dialect, stream: boolean, status: number, message: string) =>
  stream ? sse(RENDERERS[upstream].errorFrames(message, status)) : json(RENDERERS[upstream].error(status, message))

const FAULTS: Fault[] = [
  { row: '10', title: 'truncated JSON', modes: ['plain'], step: same(raw(200, '{"id":"x","choices":[{"mess')), status: 502 },
  { row: '10', title: 'JSON that is no answer', modes: ['plain'], step: same(json({ ok: true })), status: 502 },
  { row: '10', title: 'JSON that is no object', modes: ['plain'], step: same(raw(200, '[1,2,3]')), status: 502 },
  { row: '11', title: 'a malformed SSE line first', modes: ['stream'], step: same(sse(['data: {bad\n\n'])), status: 502 },
  { row: '17', title: 'HTML under 200', step: same(raw(200, '<html>sign in</html>', { contentType: 'text/html' })), status: 502 },
  {
    row: '17',
    title: 'plain text under 200',
    step: same(raw(200, 'upstream connect error', { contentType: 'text/plain' })),
    status: 502,
  },
  ...[301, 302, 307].map(
    (status): Fault => ({
      row: '20',
      title: `a ${status}`,
      step: same(raw(status, '', { headers: { location: 'http://elsewhere.example/?k=sk-faulty' } })),
      moves: false,
      status: 502,
    }),
  ),
  { row: '27', title: 'a 408', step: same(fail(408)), status: 408 },
  { row: '27', title: 'a 409', step: same(fail(409)), status: 409 },
  { row: '28', title: 'a 413', step: same(fail(413)), moves: false, status: 413 },
  {
    row: '29',
    title: '429 with Retry-After',
    step: same(fail(429, { headers: { 'retry-after': '7' } })),
    status: 429,
    code: 'rate_limited',
    retryAfter: '7',
  },
  {
    row: '29',
    title: '429 with a date',
    step: same(fail(429, { headers: { 'retry-after': 'Wed, 01 Jan 2031 00:00:09 GMT', date: 'Wed, 01 Jan 2031 00:00:00 GMT' } })),
    status: 429,
    retryAfter: '9',
  },
  {
    row: '29',
    title: '429 with milliseconds',
    step: same(fail(429, { headers: { 'retry-after-ms': '2500' } })),
    status: 429,
    retryAfter: '3',
  },
  { row: '30', title: '429 without a hint', step: same(fail(429)), status: 429, code: 'rate_limited' },
  {
    row: '31',
    title: '429 that means money',
    step: same(fail(429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' })),
    status: 429,
    code: 'rate_limited',
  },
  ...[500, 502, 503, 504].map(
    (status): Fault => ({ row: '32', title: `a ${status}`, step: same(fail(status)), status, code: 'upstream_error' }),
  ),
  {
    row: '32',
    title: '503 with Retry-After',
    step: same(fail(503, { headers: { 'retry-after': '4' } })),
    status: 503,
    retryAfter: '4',
  },
  { row: '32', title: 'a status of their own (520)', step: same(fail(520)), status: 502, attemptStatus: 520 },
  {
    row: '33',
    title: 'a 529',
    step: same(fail(529)),
    status: ({ caller }) => (caller === 'messages' ? 529 : 503),
    attemptStatus: 529,
  },
  {
    row: '34',
    title: 'a rate limit inside 200',
    step: ({ upstream, stream }) => inner(upstream, stream, 429, 'slow down'),
    status: 429,
    code: 'rate_limited',
  },
  {
    row: '34',
    title: 'a server error inside 200',
    step: ({ upstream, stream }) => inner(upstream, stream, 500, 'it broke'),
    status: ({ upstream }) => (upstream === 'chat' ? 502 : 500),
    code: 'upstream_error',
  },
  { row: '35', title: 'an empty 200', step: same(raw(200, '')), status: 502 },
  { row: '35', title: 'only white space', step: same(raw(200, ' \n\n ')), status: 502 },
  {
    row: '35',
    title: 'a stream of comments',
    modes: ['stream'],
    step: same(sse([': keep-alive\n\n', ': keep-alive\n\n'])),
    status: 502,
  },
  {
    row: '35',
    title: 'nothing but [DONE]',
    modes: ['stream'],
    upstreams: ['chat'],
    step: same(sse(['data: [DONE]\n\n'])),
    status: 502,
  },
  {
    row: '35',
    title: 'lifecycle frames, then the end',
    modes: ['stream'],
    step: ({ upstream }) => sse(framesOf(upstream).head.length ? framesOf(upstream).head : [': x\n\n']),
    status: 502,
  },
]

describe('before the first content', () => {
  it.each(FAULTS.map((fault) => [fault.title, fault] as const))('%s', async (_name, fault) => {
    await beforeContent(world, count, fault)
  })
})

describe('after the first content', () => {
  const started = (step: (head: string[], cell: Cell) => Step) => (cell: Cell) => {
    const { head, content } = framesOf(cell.upstream)
    return step([...head, ...content], cell)
  }
  it('a malformed SSE line ends the stream; a lost delta would be a wrong answer', async () => {
    await afterContent(world, count, {
      row: '11',
      title: 'a malformed line',
      step: started((list) => sse([...list, 'data: {bad\n\n', ...list])),
    })
  })

  it('an error event ends the stream', async () => {
    const step = ({ upstream }: Cell) => broken({ text: 'fine, thank you' }, framesOf(upstream).head.length + 2, { status: 500 })
    await afterContent(world, count, { row: '34', title: 'an error event', step })
  })

  it('a rate limit inside a started stream does too', async () => {
    const step = ({ upstream }: Cell) => broken({ text: 'fine, thank you' }, framesOf(upstream).head.length + 2, { status: 429 })
    await afterContent(world, count, { row: '34', title: 'a rate limit', step })
  })
})
