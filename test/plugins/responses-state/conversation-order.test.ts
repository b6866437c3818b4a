// The order of a conversation's items when requests add to it at the same time, on each engine.
import { expect, it } from 'vitest'
import type { Vault } from '../../../core/types/ports/ports.ts'
import { conversationStore } from '../../../plugins/responses-state/conversations/conversation-store.ts'
import { migrations } from '../../../plugins/responses-state/migrations.ts'
import { ENGINES } from '../../support/engines.ts'
import { wallClock } from '../budgets/support.ts'

const ALICE = { orgId: 1, keyId: 7 }
const vault = { seal: async (plain: string) => plain, open: async (sealed: string) => sealed } as unknown as Vault

it.each(ENGINES)('keeps the items of each request together, on $name', async ({ missing, with: using }) => {
  if (missing !== null) return
  await using('responses-state', migrations, async (db) => {
    const store = conversationStore({ db, vault, clock: wallClock() }, { ttlMs: 60_000, maxBytes: 100_000 })
    const { token } = await store.create(ALICE, 'conversation', {}, [])
    // All requests come in one millisecond: the clock stands still.
    await Promise.all(
      Array.from({ length: 20 }, async (_, request) => {
        const items = ['a', 'b', 'c'].map((part) => store.seal(1, token, { id: `${request}${part}`, type: 'message' }))
        await store.add(ALICE, token, await Promise.all(items))
      }),
    )
    const ids = (await store.items(ALICE, token))?.map((item) => String(item.id)) ?? []
    const requests = ids.filter((id) => id.endsWith('a')).map((id) => id.slice(0, -1))
    expect(ids).toEqual(requests.flatMap((request) => ['a', 'b', 'c'].map((part) => request + part)))
    expect(requests).toHaveLength(20)
  })
})
