// Copies the spent amounts into this process's memory: updated after bookings, and every two seconds for budgets in use. The copy never
// refuses: when an account looks exhausted, the database is read.

import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { BudgetAccount } from './window.ts'

export interface Known {
  readonly windowStart: number
  readonly spentNano: number
  readonly reservedNano: number
  readonly requests: number
}

export const REFRESH_MS = 1800
/** A budget without a request for this time is no longer polled. */
const IN_USE_MS = 60_000
/** Accounts per query. */
const CHUNK = 200
const NOTHING = { spentNano: 0, reservedNano: 0, requests: 0 }

interface Entry {
  account: BudgetAccount
  known: Known
  /** Time of the last use, monotonic ms; null: never used. */
  askedAt: number | null
}

export interface Mirror {
  /** Returns the values for a request, and keeps the budget in use; undefined: unknown. */
  of(account: BudgetAccount, now: number): Known | undefined
  /** Returns the values without keeping the budget in use. */
  peek(account: BudgetAccount): Known | undefined
  /** Returns the database's values, in order. An account that was never used has spent nothing. */
  read(db: Db, accounts: readonly BudgetAccount[]): Promise<Known[]>
  /** Reads the budgets in use again. */
  refresh(db: Db, now: number): Promise<void>
}

/** @param now monotonic ms, in all methods. */
export function mirror(ledger: Pick<Services['ledger'], 'balances'>): Mirror {
  // By name, in the window of the last call.
  const entries = new Map<string, Entry>()
  const read: Mirror['read'] = async (db, accounts) => {
    const all: Known[] = []
    for (let at = 0; at < accounts.length; at += CHUNK) {
      const chunk = accounts.slice(at, at + CHUNK)
      const balances = new Map((await ledger.balances(db, chunk)).map((one) => [`${one.name} ${one.windowStart}`, one]))
      for (const account of chunk) {
        const { spentNano, reservedNano, requests } = balances.get(`${account.name} ${account.windowStart}`) ?? NOTHING
        const known = { windowStart: account.windowStart, spentNano, reservedNano, requests }
        const entry = entries.get(account.name)
        if (entry === undefined) entries.set(account.name, { account, known, askedAt: null })
        else Object.assign(entry, { account, known })
        all.push(known)
      }
    }
    return all
  }
  const entryOf = ({ name, windowStart }: BudgetAccount): Entry | undefined => {
    const entry = entries.get(name)
    return entry?.account.windowStart === windowStart ? entry : undefined
  }
  return {
    read,
    peek: (account) => entryOf(account)?.known,
    of(account, now) {
      const entry = entryOf(account)
      if (entry !== undefined) entry.askedAt = now
      return entry?.known
    },
    async refresh(db, now) {
      const asked = [...entries.values()].filter(({ askedAt }) => askedAt !== null && now - askedAt < IN_USE_MS)
      if (asked.length > 0)
        await read(
          db,
          asked.map(({ account }) => account),
        )
    },
  }
}
