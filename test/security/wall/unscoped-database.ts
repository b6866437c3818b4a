// A database whose statements have lost their first wall: every condition on the organization is always true.
import type { Database, Db, Sql } from '../../../core/types/ports/db.ts'

export interface Unscoped extends Database {
  /** True: conditions on the organization are always true. */
  open: boolean
  /** Number of statements that were opened. */
  readonly opened: number
}

/** @param walled false: the second wall is away, too. */
export function unscopedDatabase(inner: Database, walled: boolean): Unscoped {
  const state = { open: false, opened: 0 }
  const opened = (query: Sql): Sql => {
    if (!state.open || !/^\s*(select|update|delete|with)\b/i.test(query.text)) return query
    const text = query.text.replace(/((?:\w+\.)?org_id) = \?/g, '($1 = ? OR 1 = 1)')
    if (text !== query.text) state.opened++
    return { ...query, text }
  }
  const verbs = (db: Db): Db => ({
    dialect: db.dialect,
    all: (query, row) => db.all(opened(query), row),
    get: (query, row) => db.get(opened(query), row),
    run: (query) => db.run(opened(query)),
    atomic: (statements) => db.atomic(statements.map((one) => ({ ...one, sql: opened(one.sql) }))),
    tx: (fn) => db.tx((tx) => fn(verbs(tx))),
  })
  return {
    ...verbs(inner),
    kind: inner.kind,
    ...(inner.wall === undefined || !walled ? {} : { wall: inner.wall }),
    commit: (units) => inner.commit(units),
    ping: () => inner.ping(),
    close: () => inner.close(),
    get open() {
      return state.open
    },
    set open(open) {
      state.open = open
    },
    get opened() {
      return state.opened
    },
  }
}
