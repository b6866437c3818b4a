// Rows of stored turns, on each engine: who reads them, until when, and how far a conversation goes back.
import { expect, it } from 'vitest'
import { sql as query } from '../../../core/db/sql.ts'
import type { Vault } from '../../../core/types/ports/ports.ts'
import { migrations } from '../../../plugins/responses-state/migrations.ts'
import { type Scope, turnStore } from '../../../plugins/responses-state/store.ts'
import type { Head, Turn } from '../../../plugins/responses-state/turn.ts'
import { ENGINES } from '../../support/engines.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { wallClock } from '../budgets/support.ts'

const DAY_MS = 86_400_000
const ALICE: Scope = { orgId: 1, keyId: 7 }
const turnOf = (text: string): Turn => ({
  messages: [{ role: 'user', parts: [{ t: 'text', text }] }],
  output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: `Re: ${text}` }] }],
})
const HEAD: Head = { id: 'r', status: 'completed', output: [] }
/** A value opens at its own place only. */
const vault = {
  seal: async (plain: string, at: object) => JSON.stringify([at, plain]),
  open: async (sealed: string, at: object) => {
    const [place, plain] = JSON.parse(sealed)
    if (JSON.stringify(place) !== JSON.stringify(at)) throw new Error('moved')
    return plain
  },
} as unknown as Vault

it.each(ENGINES)('are read by their owner until they expire, on $name', async ({ missing, with: using }) => {
  if (missing !== null) return
  await using('responses-state', migrations, async (db) => {
    const clock = wallClock()
    const log = recordingLog()
    const store = turnStore({ db, vault, clock, log }, { maxTurns: 3, maxChainBytes: 100_000 })
    const keep = async (scope: Scope, token: string, parent: string | null): Promise<void> => {
      const sealed = await store.seal(scope.orgId, token, JSON.stringify(turnOf(token)), JSON.stringify(HEAD))
      const { sql } = store.insert(scope, { token, parent, ...sealed }, clock.now(), clock.now() + DAY_MS)
      await db.run(sql)
      // A repeated settlement changes nothing.
      await db.run(sql)
    }
    for (const [token, parent] of [
      ['a', null],
      ['b', 'a'],
      ['c', 'b'],
      ['d', 'c'],
    ] as const)
      await keep(ALICE, token, parent)
    await keep({ orgId: null, keyId: null }, 'open', null)

    expect(await store.chain(ALICE, 'c')).toEqual([turnOf('a'), turnOf('b'), turnOf('c')])
    // One turn more than the bound.
    expect(await store.chain(ALICE, 'd')).toBeNull()
    expect(await store.response(ALICE, 'd')).toEqual({ turn: turnOf('d'), head: HEAD, parent: 'c' })
    expect([...(await store.turns(ALICE, ['a', 'd', 'x'])).keys()].sort()).toEqual(['a', 'd'])

    const readers: [Scope, boolean][] = [
      [{ orgId: 1, keyId: 'all' }, true],
      [{ orgId: 1, keyId: 8 }, false],
      [{ orgId: 1, keyId: null }, false],
      [{ orgId: 2, keyId: 'all' }, false],
      [{ orgId: null, keyId: null }, false],
    ]
    for (const [reader, isAllowed] of readers) {
      expect([reader, (await store.response(reader, 'a')) !== null]).toEqual([reader, isAllowed])
      expect([reader, (await store.chain(reader, 'a')) !== null]).toEqual([reader, isAllowed])
      if (!isAllowed) expect(await store.remove(reader, 'a')).toBe(false)
    }
    expect(await store.response({ orgId: null, keyId: null }, 'open')).not.toBeNull()
    expect(await store.response(ALICE, 'open')).toBeNull()

    expect(await store.remove(ALICE, 'b')).toBe(true)
    expect(await store.remove(ALICE, 'b')).toBe(false)
    expect(await store.chain(ALICE, 'c')).toBeNull()
    expect(await store.response(ALICE, 'c')).not.toBeNull()

    clock.jump(24)
    expect(await store.response(ALICE, 'c')).toBeNull()
    await store.prune(clock.now())
    expect(await db.all(query`SELECT token FROM responses_state`)).toEqual([])
  })
})

it.each(ENGINES)('reads a row of an older form, with its head in a column of its own, on $name', async ({
  missing,
  with: using,
}) => {
  if (missing !== null) return
  await using('responses-state', migrations, async (db) => {
    const store = turnStore({ db, vault, clock: wallClock(), log: recordingLog() }, { maxTurns: 3, maxChainBytes: 100_000 })
    const sealedAt = (column: string, value: unknown) =>
      vault.seal(JSON.stringify(value), { table: 'responses_state', id: 'old', column, orgId: 1 })
    const [turn, head] = [await sealedAt('turn', turnOf('old')), await sealedAt('head', HEAD)]
    await db.run(query`INSERT INTO responses_state (token, org_id, key_id, created_at, expires_at, bytes, turn_sealed, head_sealed)
      VALUES ('old', 1, 7, 0, ${Number.MAX_SAFE_INTEGER}, 10, ${turn}, ${head})`)
    expect(await store.response(ALICE, 'old')).toEqual({ turn: turnOf('old'), head: HEAD, parent: null })
    expect(await store.chain(ALICE, 'old')).toEqual([turnOf('old')])
  })
})
