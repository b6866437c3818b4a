// The fault table: each fault with its effect on the account and the answer that the caller gets.
import { broken, fail, frames, hang, RENDERERS, raw, reply, reset, type Step } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { type Cell, framesOf } from '../support/faults.ts'
import type { Effect } from './state-model.ts'

export interface StateFault {
  row: string
  title: string
  step(cell: Cell): Step
  effect: Effect
  /** Status of the caller's answer when no other account is called; absent: another one answers. */
  returns?: number
  /** The stream had started: 200, and the failure is in it. */
  started?: true
  /** Counts for `provider.outage`: no answer, or neither 2xx nor 4xx. */
  fault?: true
  /** The failure occurs when the idle timeout passes. */
  stalls?: true
  modes?: readonly ('plain' | 'stream')[]
  upstreams?: readonly Dialect[]
}

export const FINE = 'fine, thank you'
const HOUR = 3_600_000
const BREAKER: Pick<StateFault, 'effect' | 'fault'> = { effect: { breaker: true }, fault: true }
const NOTHING: Effect = {}

const same = (step: Step) => () => step
const sse = (list: readonly string[]) => frames(list)
const head = (upstream: Dialect) => framesOf(upstream).head
const begun = (upstream: Dialect) => [...head(upstream), ...framesOf(upstream).content]
const inner = (status: number, message: string) => (cell: Cell) =>
  cell.stream
    ? sse(RENDERERS[cell.upstream].errorFrames(message, status))
    : raw(200, JSON.stringify(RENDERERS[cell.upstream].error(status, message)))
const cut =
  (how: 'fin' | 'reset', started: boolean) =>
  ({ upstream, stream }: Cell) =>
    reply({ text: FINE }, { cut: { after: stream ? head(upstream).length + (started ? 2 : 0) : 20, how }, everyMs: 1 })
const limited = (headers: Record<string, string>, message?: string) =>
  fail(429, { headers, ...(message === undefined ? {} : { message }) })
const locked = (ms: number | 'backoff'): Effect => ({ lock: { ms, reason: 'rate_limited' } })
/** Google streams have no events before the first content. */
const WITH_HEAD: readonly Dialect[] = ['chat', 'messages', 'responses']
const STREAM: Pick<StateFault, 'modes'> = { modes: ['stream'] }
const STARTED: Pick<StateFault, 'modes' | 'started'> = { ...STREAM, started: true }

export const ROWS: readonly StateFault[] = [
  { row: '1', title: 'reset', step: reset, ...BREAKER },
  { row: '5', title: 'slow headers', step: hang, stalls: true, ...BREAKER },
  {
    row: '6',
    title: 'stall',
    stalls: true,
    ...STREAM,
    ...BREAKER,
    step: ({ upstream }) => reply({ text: FINE }, { stallAfter: head(upstream).length }),
  },
  { row: '7', title: 'RST', step: cut('reset', false), modes: ['plain'], ...BREAKER },
  { row: '7', title: 'RST before content', step: cut('reset', false), ...STREAM, upstreams: WITH_HEAD, ...BREAKER },
  { row: '7', title: 'RST after content', step: cut('reset', true), ...STARTED, ...BREAKER },
  { row: '8', title: 'FIN', step: cut('fin', false), ...BREAKER },
  { row: '8', title: 'FIN after content', step: cut('fin', true), ...STARTED, ...BREAKER },
  { row: '8', title: 'clean EOF', step: ({ upstream }) => sse(begun(upstream)), ...STARTED, ...BREAKER },
  { row: '10', title: 'truncated JSON', step: same(raw(200, '{"id":"x","choices":[{"mess')), modes: ['plain'], ...BREAKER },
  { row: '11', title: 'malformed line', step: same(sse(['data: {bad\n\n'])), ...STREAM, ...BREAKER },
  {
    row: '11',
    title: 'malformed line after content',
    ...STARTED,
    ...BREAKER,
    step: ({ upstream }) => sse([...begun(upstream), 'data: {bad\n\n']),
  },
  { row: '16', title: 'huge event', step: () => sse([HUGE]), ...STREAM, upstreams: ['chat'], ...BREAKER },
  { row: '17', title: 'HTML', step: same(raw(200, '<html>sign in</html>', { contentType: 'text/html' })), ...BREAKER },
  { row: '18', title: 'no gzip', step: same(raw(200, '{}', { headers: { 'content-encoding': 'gzip' } })), ...BREAKER },
  {
    row: '20',
    title: 'redirect',
    returns: 502,
    fault: true,
    step: same(raw(302, '', { headers: { location: 'http://elsewhere.example/' } })),
    effect: { lock: { ms: 60_000, reason: 'misconfigured', all: true } },
  },
  { row: '22', title: '422', step: same(fail(422)), effect: NOTHING, returns: 422 },
  { row: '23', title: 'too long', step: same(fail(400, { message: 'prompt is too long' })), effect: NOTHING, returns: 400 },
  { row: '24', title: '401', step: same(fail(401)), effect: { refused: true } },
  { row: '24', title: '403', step: same(fail(403)), effect: { lock: { ms: 120_000, reason: 'permission' } } },
  {
    row: '25',
    title: '402',
    step: same(fail(402)),
    effect: { cooldown: 120_000 },
    upstreams: ['chat', 'responses', 'generate_content'],
  },
  // Anthropic's 402 is a `billing_error`, which means quota.
  { row: '25', title: '402 that means money', step: same(fail(402)), upstreams: ['messages'], effect: { quotaMs: HOUR } },
  {
    row: '25',
    title: '400 that means money',
    effect: { quotaMs: HOUR },
    step: same(fail(400, { message: 'Your credit balance is too low to do this.' })),
  },
  { row: '26', title: '404', step: same(fail(404)), effect: { lock: { ms: 120_000, reason: 'not_found' } } },
  { row: '27', title: '408', step: same(fail(408)), effect: { breaker: true } },
  { row: '27', title: '409', step: same(fail(409)), effect: NOTHING },
  { row: '28', title: '413', step: same(fail(413)), effect: NOTHING, returns: 413 },
  { row: '29', title: 'Retry-After', step: same(limited({ 'retry-after': '7' })), effect: locked(7000) },
  { row: '29', title: 'milliseconds', step: same(limited({ 'retry-after-ms': '2500' })), effect: locked(2500) },
  {
    row: '29',
    title: 'a date',
    effect: locked(9000),
    step: same(limited({ 'retry-after': 'Wed, 01 Jan 2031 00:00:09 GMT', date: 'Wed, 01 Jan 2031 00:00:00 GMT' })),
  },
  {
    row: '29',
    title: 'of the account',
    effect: { cooldown: 11_000 },
    step: same(limited({ 'retry-after': '11' }, 'The account-wide limit is reached.')),
  },
  { row: '30', title: 'no hint', step: same(fail(429)), effect: locked('backoff') },
  {
    row: '30',
    title: 'no hint, of the account',
    effect: { cooldown: 'backoff' },
    step: same(limited({}, 'Too many concurrent requests.')),
  },
  {
    row: '31',
    title: 'insufficient_quota',
    effect: { quotaMs: HOUR },
    step: same(fail(429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' })),
  },
  { row: '31', title: 'in two hours', step: same(limited({ 'retry-after': '7200' })), effect: { quotaMs: 2 * HOUR } },
  ...[500, 502, 503, 504, 520].map((status) => ({ row: '32', title: `${status}`, step: same(fail(status)), ...BREAKER })),
  {
    row: '32',
    title: '503 with Retry-After',
    fault: true,
    step: same(fail(503, { headers: { 'retry-after': '4' } })),
    effect: { breaker: true, cooldown: 4000 },
  },
  { row: '33', title: '529', step: same(fail(529)), effect: { breaker: true, cooldown: 5000 }, fault: true },
  { row: '34', title: 'rate limit inside 200', step: inner(429, 'slow down'), effect: locked('backoff') },
  { row: '34', title: 'error inside 200', step: inner(500, 'it broke'), ...BREAKER },
  {
    row: '34',
    title: 'error after content',
    ...STARTED,
    ...BREAKER,
    step: ({ upstream }) => broken({ text: FINE }, head(upstream).length + 2, { status: 500 }),
  },
  {
    row: '34',
    title: 'rate limit after content',
    ...STARTED,
    effect: locked('backoff'),
    step: ({ upstream }) => broken({ text: FINE }, head(upstream).length + 2, { status: 429 }),
  },
  { row: '35', title: 'empty', step: same(raw(200, '')), ...BREAKER },
]

const HUGE = `data: {"x":"${'x'.repeat(9 << 20)}"}\n\n`
/** Makes the executor skip working accounts: the next one is called, and this one's state stays unchanged. */
export const PAST: StateFault = { row: '27', title: '409', step: same(fail(409)), effect: NOTHING }
