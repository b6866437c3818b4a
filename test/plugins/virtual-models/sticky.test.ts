// How long a session is remembered, and how many are.
import { expect, it } from 'vitest'
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import { type CompiledModel, PLAIN_CONFIG, plainTarget } from '../../../plugins/virtual-models/planning/compiled-model.ts'
import { stickySessions } from '../../../plugins/virtual-models/planning/sticky.ts'

const compiled: CompiledModel = {
  name: 'vm',
  id: 'row:1',
  orgId: null,
  ordering: 'load_balance',
  modality: 'text',
  enabled: true,
  version: '',
  targets: [],
  config: { ...PLAIN_CONFIG, stickyTtlSecs: 10 },
  createdAt: 0,
}
const candidate = (id: string): Candidate => ({ target: plainTarget('up', 'm'), connection: { id } as Candidate['connection'] })
const sticky = (monotonic: () => number, quotaLeft: () => number | null = () => null) =>
  stickySessions({ monotonic, quotaLeft, storage: null, unshared() {} })
const [a, b] = [candidate('1'), candidate('2')]
const of = (sessionId: string, orgId: number | null = null) =>
  ({ sessionId, principal: { orgId }, headers: { get: () => null } }) as unknown as RequestContext

it('a session lasts from its last answer on, in its organization and for its virtual model', () => {
  let now = 0
  const sessions = sticky(() => now)
  const first = (ctx: RequestContext, of = compiled) => sessions.preferred(ctx, of, [a, b])[0]
  sessions.answered(of('s'), compiled, b)
  now = 9_000
  expect(first(of('s'))).toBe(b)
  for (const elsewhere of [first(of('t')), first(of('s', 4)), first(of('s'), { ...compiled, id: 'row:2' })])
    expect(elsewhere).toBe(a)
  sessions.answered(of('s'), compiled, b)
  now = 18_000
  expect(first(of('s'))).toBe(b)
  now = 19_000
  expect(first(of('s'))).toBe(a)
})

it('ten thousand are kept; the longest unused goes', () => {
  const sessions = sticky(() => 0)
  for (let i = 0; i < 10_000; i++) sessions.answered(of(`s${i}`), compiled, b)
  sessions.answered(of('s0'), compiled, b)
  sessions.answered(of('new'), compiled, b)
  const first = (session: string) => sessions.preferred(of(session), compiled, [a, b])[0]
  expect([first('s0'), first('s1'), first('new')]).toEqual([b, a, b])
})

it('a session leaves an account that has less than 15 % of its quota left, and comes back when it has more', () => {
  let left: number | null = null
  const sessions = sticky(
    () => 0,
    () => left,
  )
  sessions.answered(of('s'), compiled, b)
  const first = () => sessions.preferred(of('s'), compiled, [a, b])[0]
  const seen = [null, 0.149, 0.15, 0, 1].map((share) => {
    left = share
    return first()
  })
  expect(seen).toEqual([b, a, b, a, b])
})
