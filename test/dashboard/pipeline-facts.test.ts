// What the pipeline says about a request and about a reload.
import { describe, expect, it } from 'vitest'
import { HOOKS } from '../../core/hooks/catalogue.ts'
import { orderChanges } from '../../dashboard/pages/system/order-change.ts'
import { reachedHooks } from '../../dashboard/pages/system/reached.ts'
import { STAGES } from '../../dashboard/pages/system/stages.ts'

const answered = { attempts: [{ skipped: null, lane: 'events' }], cached: false, status: 200, stream: true }

it('has a place in the picture for every hook of a request', () => {
  const placed = STAGES.flatMap(({ hooks }) => hooks)
  expect(Object.keys(HOOKS).filter((hook) => !placed.includes(hook))).toEqual([])
  expect(placed.filter((hook) => !Object.hasOwn(HOOKS, hook))).toEqual([])
})

describe('the hooks that a request reached', () => {
  it('are names of the catalogue', () => {
    for (const hook of reachedHooks(answered)) expect(Object.keys(HOOKS)).toContain(hook)
  })

  it('end before the call for an answer of the cache', () => {
    const reached = reachedHooks({ ...answered, attempts: [], cached: true })
    expect(reached.has('answer')).toBe(true)
    expect(reached.has('call')).toBe(false)
  })

  it('hold the stream or the whole answer, never both, and neither where bytes were passed on', () => {
    expect(reachedHooks(answered).has('stream')).toBe(true)
    expect(reachedHooks(answered).has('response')).toBe(false)
    expect(reachedHooks({ ...answered, stream: false }).has('response')).toBe(true)
    expect(reachedHooks({ ...answered, attempts: [{ skipped: null, lane: 'bytes' }] }).has('stream')).toBe(false)
  })

  it('hold no attempt where every candidate was skipped', () => {
    const reached = reachedHooks({ ...answered, attempts: [{ skipped: { reason: 'x' }, lane: null }], status: 503 })
    expect([reached.has('candidates'), reached.has('attempt'), reached.has('response')]).toEqual([true, false, false])
  })
})

describe('the change of an order', () => {
  const change = (now: string[], before: string[]) => orderChanges(now, before).map(({ plugin, change }) => `${plugin} ${change}`)

  it('names what was added and removed, and does not call the others moved', () => {
    expect(change(['a', 'new', 'b'], ['a', 'old', 'b'])).toEqual(['a same', 'new added', 'b same', 'old removed'])
  })

  it('names what has another place among those that stayed', () => {
    expect(change(['b', 'a', 'c'], ['a', 'b', 'c'])).toEqual(['b moved', 'a moved', 'c same'])
  })
})
