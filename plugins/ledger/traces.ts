// Traces on SQLite. The requests of one commit share a stored row, a pack, because a row for each is written and deleted within
// milliseconds. After the last of them the row is used again for the traces of the same commit, or deleted. A request that runs longer
// gets a row of its own (checkpoints.ts). A request with a reservation has one from the start, because its accounts depend on it.
import type { Join, Joined, Sql, Statement } from '../../core/types/ports/db.ts'
import { checkpoint, insertKnown, type Known, type Progress, promote, removeDispatch } from './dispatch.ts'
import { packTraces } from './packed-traces.ts'

const PUT = `INSERT INTO ledger_traces (boot_id, seq, at, requests) VALUES (?, ?, ?, ?)
  ON CONFLICT (boot_id, seq) DO UPDATE SET at = excluded.at, requests = excluded.requests, ended = ''`
const REMOVE = 'DELETE FROM ledger_traces WHERE boot_id = ? AND seq = ?'
const END = "UPDATE ledger_traces SET ended = ended || ? || ' ' WHERE boot_id = ? AND seq = ?"

interface Pack {
  readonly seq: number
  /** Number of its requests that have not ended. */
  open: number
}

export class Traces implements Join {
  readonly #bootId: string
  #seq = 0
  /** Packs whose last request ended while another write about them was under way. */
  #closed: Pack[] = []

  constructor(bootId: string) {
    this.#bootId = bootId
  }

  begin(requestId: string, at: number, known: Known): Trace {
    return new Trace(this, this.#bootId, requestId, at, known)
  }

  joined(statements: readonly Statement[]): Joined {
    const fresh = new Set<Trace>()
    const ends: TraceEnd[] = []
    for (const statement of statements) {
      if (statement instanceof Trace) fresh.add(statement)
      else ends.push(statement as TraceEnd)
    }
    const writes: { sql: Sql }[] = []
    const ending = new Map<Pack, number>()
    for (const { trace } of ends) {
      // A request that begins and ends in one commit needs no trace.
      if (fresh.delete(trace)) continue
      if (trace.pack !== null) ending.set(trace.pack, (ending.get(trace.pack) ?? 0) + 1)
      if (trace.pack === null || trace.alone) writes.push(removeDispatch(trace.requestId))
    }
    for (const { trace, hasRows } of ends) {
      const { pack } = trace
      if (pack !== null && !hasRows && ending.get(pack) !== pack.open) writes.push(this.#endOf(trace.requestId, pack))
    }
    const closed = [...this.#closed]
    const deleted = new Set<Pack>()
    for (const [pack, count] of ending) if (count === pack.open) deleted.add(pack)
    const free = [...closed, ...deleted]
    // A row in the place of another one leaves the index and the list of free pages as they are.
    const pack = fresh.size === 0 ? null : { seq: free.pop()?.seq ?? this.#seq++, open: fresh.size }
    for (const each of free) writes.push(this.#removal(each))
    if (pack !== null) writes.push(this.#put(pack, fresh))
    return {
      statements: writes,
      done: () => {
        if (pack !== null) for (const trace of fresh) trace.pack = pack
        if (closed.length > 0) this.#closed = this.#closed.filter((each) => !closed.includes(each))
        for (const { trace } of ends) this.leave(trace, deleted)
      },
    }
  }

  /**
   * Gives a running request a row of its own, with its progress.
   * @returns what to call after the commit.
   */
  promote(trace: Trace, seen: Progress | null): Required<Joined> {
    const { pack } = trace
    if (trace.stored)
      return { statements: seen === null ? [] : [checkpoint(trace.requestId, seen)], done: () => this.leave(trace) }
    const first = pack !== null && !trace.alone
    trace.alone = true
    const statements = [promote(this.#bootId, trace.requestId, trace.at, trace.known, seen)]
    const last = first && pack.open === 1
    if (first) statements.push(last ? this.#removal(pack) : this.#endOf(trace.requestId, pack))
    return {
      statements,
      done: () => {
        trace.stored = true
        this.leave(trace, last ? new Set([pack]) : NONE)
      },
    }
  }

  /**
   * Takes a trace out of its pack; a second call has no effect. The pack is deleted with the next commit when this was its last trace.
   * @param deleted packs that are deleted already.
   */
  leave(trace: Trace, deleted: ReadonlySet<unknown> = NONE): void {
    const { pack } = trace
    if (pack === null) return
    trace.pack = null
    pack.open--
    if (pack.open === 0 && !deleted.has(pack)) this.#closed.push(pack)
  }

  #put({ seq }: Pack, traces: ReadonlySet<Trace>): { sql: Sql } {
    let latest = 0
    for (const { at } of traces) if (at > latest) latest = at
    return { sql: { text: PUT, params: [this.#bootId, seq, latest, packTraces(traces)] } }
  }

  #removal({ seq }: Pack): { sql: Sql } {
    return { sql: { text: REMOVE, params: [this.#bootId, seq] } }
  }

  #endOf(requestId: string, { seq }: Pack): { sql: Sql } {
    return { sql: { text: END, params: [requestId, this.#bootId, seq] } }
  }

  /** The end of a request alone, for a spool: recovery deletes the pack. */
  endAlone({ requestId, pack }: Trace, hasRows: boolean): Sql {
    return pack === null || hasRows ? removeDispatch(requestId).sql : this.#endOf(requestId, pack).sql
  }
}

const NONE: ReadonlySet<unknown> = new Set()

/** Writes the trace of a request without a reservation. */
export class Trace implements Statement {
  readonly join: Traces
  readonly requestId: string
  readonly at: number
  readonly known: Known
  readonly #bootId: string
  /** The stored row that it is part of; null: none, or a row of its own. */
  pack: Pack | null = null
  /** It has a row of its own, or may have. */
  alone = false
  /** It has a row of its own. */
  stored = false

  constructor(join: Traces, bootId: string, requestId: string, at: number, known: Known) {
    this.join = join
    this.#bootId = bootId
    this.requestId = requestId
    this.at = at
    this.known = known
  }

  get sql(): Sql {
    return insertKnown(this.#bootId, this.requestId, this.at, this.known, null).sql
  }
}

/** Deletes the trace. */
export class TraceEnd implements Statement {
  readonly join: Traces
  readonly trace: Trace
  /** The request has usage rows; without one its pack must show that it ended. */
  readonly hasRows: boolean

  constructor(trace: Trace, hasRows: boolean) {
    this.join = trace.join
    this.trace = trace
    this.hasRows = hasRows
  }

  get sql(): Sql {
    return this.join.endAlone(this.trace, this.hasRows)
  }
}
