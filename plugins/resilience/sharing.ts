// Account states over several processes, through the shared store: what changes here is written there, and once a second a
// process looks whether something changed elsewhere. Requests never wait for it; while the store is away each process knows
// what it found out itself. Without one a reload finds in the process's own store what was known before it, circuits too.
import { randomId } from '../../core/ids/ids.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { AccountBook } from './account-book.ts'
import type { AccountState } from './account-state.ts'
import { join, snapshot, snapshotOf } from './snapshot.ts'

const POLL_MS = 1000
/** Longer than any state lasts. */
const TTL_SECONDS = 32 * 86_400

export interface Sharing {
  /** Takes over what others know by now. Never rejects. */
  look(): Promise<void>
  publish(state: AccountState): void
  /** Resolves when everything published so far is out. */
  close(): Promise<void>
}

/** @param shared whether other processes write there; who is alone knows best. */
export function startSharing(gateway: PluginGateway, book: () => AccountBook, shared: boolean): Sharing {
  const { storage, clock, log } = gateway
  const accounts = gateway.use('accounts')
  const dirty = new Set<AccountState>()
  let sending: Promise<void> | null = null
  /** As of the last look; undefined, which nothing stored ever is: the next one reads. */
  let mark: unknown

  const send = async (): Promise<void> => {
    while (dirty.size > 0) {
      for (const state of dirty) {
        dirty.delete(state)
        const there = shared ? snapshot.safeParse(await storage.getItem(`state:${state.id}`)) : null
        if (there?.success) join(state, there.data, clock)
        await storage.setItem(`state:${state.id}`, snapshotOf(state, clock), { ttl: TTL_SECONDS })
      }
      await storage.setItem('changed', randomId(''))
      // Changes that others wrote in between must still be read.
      mark = undefined
    }
  }

  const unshared = (error: unknown): void => log.warn('resilience.unshared', { error: String(error) })

  const publish = (state: AccountState): void => {
    dirty.add(state)
    sending ??= send()
      .catch(unshared)
      .finally(() => {
        sending = null
      })
  }

  const look = async (): Promise<void> => {
    const seen = await storage.getItem('changed')
    if (seen === mark) return
    const lists = accounts.list().map(async ({ connection }) => {
      const there = snapshot.safeParse(await storage.getItem(`state:${connection.id}`))
      const state = book().of(connection.id)
      // A store that restarted empty gets this process's state, because the state of its downtime exists nowhere else.
      if (there.success ? join(state, there.data, clock) : !state.quiet) publish(state)
    })
    await Promise.all(lists)
    mark = seen
  }
  if (shared) gateway.every('sharing', POLL_MS, look)

  return {
    look: () => look().catch(unshared),
    publish,
    async close() {
      await sending
    },
  }
}
