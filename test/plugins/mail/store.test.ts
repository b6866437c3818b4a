// Rows of the outbox on each engine: a letter is in one process at a time.
import { describe, expect, it } from 'vitest'
import { migrations } from '../../../plugins/mail/migrations.ts'
import { claimNext, finish, insertLetter, nextDue, prune, summary } from '../../../plugins/mail/store.ts'
import { ENGINES } from '../../support/engines.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 86_400_000
const letter = (id: string) => ({ id, orgId: 0, kind: 'verify', domain: 'example.org', sealed: 'x', at: NOW })

for (const { name, missing, with: use } of ENGINES) {
  describe.skipIf(missing !== null)(`the outbox on ${name}`, () => {
    it('gives a letter to one of many claimants, and to another one when the lease has ended', () =>
      use('mail', migrations, async (db) => {
        for (const id of ['a', 'b', 'c']) await insertLetter(db, letter(id), null)
        const claim = (owner: string, now: number) => claimNext(db, { owner, until: now + 60_000 }, now)
        const taken: string[] = []
        for (let round = 0; round < 5; round++) {
          const claims = await Promise.all(['v', 'w', 'x', 'y', 'z'].map((owner) => claim(owner, NOW)))
          taken.push(...claims.flatMap((row) => (row === undefined ? [] : [row.id])))
        }
        expect(taken.sort()).toEqual(['a', 'b', 'c'])
        expect(await nextDue(db)).toBe(NOW + 60_000)
        const again = await claim('later', NOW + 60_000)
        expect(again?.id).toBeDefined()
        if (again === undefined) return
        const sent = { status: 'sent', nextAttemptAt: 0, httpStatus: 200, error: null } as const
        expect(await finish(db, again, 'v', sent, NOW + 60_001), 'the lease of another process').toBe(false)
        expect(await finish(db, again, 'later', sent, NOW + 60_001)).toBe(true)
        expect(await summary(db, NOW)).toMatchObject({ waiting: 2, sent: 1, dead: 0, oldest: NOW })
      }))

    it('forgets sent letters after a week and dead ones after 30 days', () =>
      use('mail', migrations, async (db) => {
        for (const [id, status] of [
          ['a', 'sent'],
          ['b', 'dead'],
        ] as const) {
          await insertLetter(db, letter(id), null)
          const row = await claimNext(db, { owner: 'o', until: NOW + 1 }, NOW)
          if (row !== undefined) await finish(db, row, 'o', { status, nextAttemptAt: 0, httpStatus: null, error: null }, NOW)
        }
        await prune(db, NOW + 8 * DAY)
        expect(await summary(db, 0)).toMatchObject({ sent: 0, dead: 1 })
        await prune(db, NOW + 31 * DAY)
        expect(await summary(db, 0)).toMatchObject({ sent: 0, dead: 0 })
      }))
  })
}
