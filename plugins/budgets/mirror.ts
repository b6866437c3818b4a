// A copy of spent amounts in this process: updated after bookings, and every two seconds for budgets in use. It never refuses by itself: an
// account that looks spent is read from the database.
import type { Db } from '../../core/types/db.ts'
import type { Services } from '../../core/types/plugin.ts'
import type { BudgetAccount } from './window.ts'

export interface Known {
  readonly windowStart: number
  readonly spentNano: number
  readonly reservedNano: number
  readonly requests: number
}

export const REFRESH_MS = 1800
/** Budgets that no request used for this long are no longer polled. */
const IN_USE_MS = 60_000
/** Accounts in one query. */
const CHUNK = 200
const NOTHING = { spentNano: 0, reservedNano: 0, requests: 0 }

interface Entry {
  account: BudgetAccount
  known: Known
  /** Time of the last use, monotonic ms; null: never used. */
  askedAt: number | null
}

export interface Mirror {
  /** For a request; undefined: not known. */
  of(account: BudgetAccount, now: number): Known | undefined
  /** Without following it. */
  peek(account: BudgetAccount): Known | undefined
  /** As the database has them now, in order; an account that was never used has spent nothing. */
  read(db: Db, accounts: readonly BudgetAccount[]): Promise<Known[]>
  /** Reads again what requests ask about. */
  refresh(db: Db, now: number): Promise<void>
}

/** @param now monotonic ms in all of it. */
export function mirror(ledger: Pick<Services['ledger'], 'balances'>): Mirror {
  // By name, in the window that was asked about last.
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
