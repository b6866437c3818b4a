// Traces of requests without a reservation on SQLite: those of one commit share a stored row, and recovery settles exactly the open ones.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { hang } from '../../../adapters/testing/script.ts'
import { GroupCommit } from '../../../core/db/group-commit.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { sql } from '../../../core/db/sql.ts'
import { silentLog } from '../../../core/log.ts'
import type { Database, Statement } from '../../../core/types/ports/db.ts'
import { factsIn } from '../../../plugins/ledger/dispatch.ts'
import { instances } from '../../../plugins/ledger/instances.ts'
import { migrations } from '../../../plugins/ledger/migrations.ts'
import { packTraces, unpackTraces } from '../../../plugins/ledger/packed-traces.ts'
import { ownPacks, type PackRow, strayPacks, takePack } from '../../../plugins/ledger/packs.ts'
import { recovery } from '../../../plugins/ledger/recovery.ts'
import type { UsageRow } from '../../../plugins/ledger/service.ts'
import { type Trace, TraceEnd, Traces } from '../../../plugins/ledger/traces.ts'
import { InsertRows, NO_TOKENS } from '../../../plugins/ledger/usage-rows.ts'
import { type Books, openBooks } from './support.ts'

const KNOWN = [null, null, null, null, null, null, 'api', 'chat', 'p', 'm', 'p/m', null, false, 40]

const rowOf = (requestId: string): UsageRow => ({
  ...{ requestId, step: 0, orgId: null, at: 1, keyId: null, keyLabel: null, userId: null, sessionId: null, costCenter: null },
  ...{
    source: 'api',
    operation: 'chat',
    provider: 'p',
    connectionId: 'c',
    model: 'm',
    requestedModel: 'p/m',
    virtualModel: null,
  },
  ...{ stream: false, status: 200, latencyMs: 5, firstByteMs: null, tokens: NO_TOKENS, mediaUnits: 0, estimated: false },
  ...{ costNano: 7, chargeNano: 7, priceRef: null, cached: null, freePool: false, interrupted: false },
})

const progressOf = (output: number) => ({
  ...{ provider: 'p', connectionId: 'c', model: 'm', input: 10, output, costNano: 7, chargeNano: 7 },
})

async function opened(): Promise<Database> {
  const db = sqliteDatabase({ path: ':memory:' })
  await migrate(db, [{ name: 'ledger', migrations }])
  return db
}

/** A history: in each turn requests begin, end with or without a row, or get a row of their own; the process dies after the last one. */
const turn = fc.record({
  begin: fc.integer({ min: 0, max: 5 }),
  /** Numbers of open requests. */
  end: fc.array(fc.record({ at: fc.nat(30), hasRow: fc.boolean() }), { maxLength: 5 }),
  promote: fc.array(fc.record({ at: fc.nat(6), output: fc.option(fc.nat(1000)) }), { maxLength: 4 }),
  fault: fc.constantFrom('none', 'none', 'none', 'once', 'mistake'),
})

describe('a random history', () => {
  it('leaves no trace of what ended, and another process settles exactly the rest, once', { timeout: 20_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 12 }), async (turns) => {
        const real = await opened()
        let fault: string = 'none'
        const db = Object.assign(Object.create(real) as Database, {
          commit: async (units: Parameters<Database['commit']>[0]) => {
            if (fault === 'once') {
              fault = 'none'
              throw new Error('The disk is away.')
            }
            return real.commit(units)
          },
        })
        const clock = fakeClock()
        const commits = new GroupCommit(db, clock, silentLog)
        const boot = instances(real, clock)
        await boot.beat()
        const traces = new Traces(boot.bootId)
        const open: Trace[] = []
        const rows = new Set<string>()
        const outputs = new Map<string, number>()
        let number = 0
        for (const { begin, end, promote, fault: next } of turns) {
          fault = next
          const writing: Promise<unknown>[] = []
          const add = (...statements: Statement[]) => writing.push(commits.add(statements))
          for (let i = 0; i < begin; i++) {
            const trace = traces.begin(`req_${number++}`, clock.now(), KNOWN)
            open.push(trace)
            add(trace)
          }
          for (const { at, hasRow } of end) {
            const [trace] = open.splice(at, 1)
            if (trace === undefined) continue
            if (hasRow) rows.add(trace.requestId)
            const last = new TraceEnd(trace, hasRow)
            if (hasRow) add(new InsertRows([rowOf(trace.requestId)]), last)
            else add(last)
          }
          // Joined statements with a mistake among them are written one by one.
          if (next === 'mistake') {
            const wrong = { ...rowOf('req_wrong'), status: null } as unknown as UsageRow
            writing.push(commits.add([new InsertRows([wrong])]).catch(() => {}))
          }
          let written = false
          const waiting = Promise.all(writing).finally(() => {
            written = true
          })
          while (!written) {
            await new Promise((resolve) => setImmediate(resolve))
            await clock.advance(50)
          }
          await waiting
          for (const { at, output } of promote) {
            const trace = open[at]
            if (trace === undefined) continue
            const { statements, done } = traces.promote(trace, output === null ? null : progressOf(output))
            await real.atomic(statements)
            done()
            if (output !== null) outputs.set(trace.requestId, output)
          }
        }
        const before = await real.all<{ request_id: string }>(sql`SELECT request_id FROM ledger_usage`)
        expect(new Set(before.map(({ request_id }) => request_id))).toEqual(rows)

        await clock.advance('91s')
        const other = instances(real, clock)
        await other.beat()
        const { sweep } = recovery({ db: real, clock, log: silentLog }, other, () => undefined)
        expect(await sweep()).toBe(open.length)
        expect(await sweep()).toBe(0)
        const after = await real.all<{ request_id: string; interrupted: number; output_tokens: number }>(
          sql`SELECT request_id, interrupted, output_tokens FROM ledger_usage`,
        )
        const interrupted = after.filter((row) => row.interrupted === 1).map(({ request_id }) => request_id)
        expect(interrupted.sort()).toEqual(open.map(({ requestId }) => requestId).sort())
        expect(after.length).toBe(rows.size + open.length)
        for (const row of after) if (row.interrupted === 1) expect(row.output_tokens).toBe(outputs.get(row.request_id) ?? 0)
        expect(await real.get(sql`SELECT COUNT(*) AS n FROM ledger_traces`)).toEqual({ n: 0 })
        expect(await real.get(sql`SELECT COUNT(*) AS n FROM ledger_dispatch WHERE swept_at IS NULL`)).toEqual({ n: 0 })
        await real.close()
      }),
      { numRuns: 100 },
    )
  })

  it('without a fault ends with an empty table', async () => {
    const db = await opened()
    const commits = new GroupCommit(db, fakeClock(), silentLog)
    const traces = new Traces('boot')
    const stored = async () => (await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ledger_traces`))?.n
    const all = Array.from({ length: 300 }, (_, i) => traces.begin(`req_${i}`, 1, KNOWN))
    await Promise.all(all.map((trace) => commits.add([trace])))
    expect(await stored()).toBe(2)
    const promoted = all.slice(0, 10).map((trace) => traces.promote(trace, null))
    await db.atomic(promoted.flatMap(({ statements }) => statements))
    for (const { done } of promoted) done()
    await Promise.all(all.map((trace, i) => commits.add([new TraceEnd(trace, i % 2 === 0)])))
    expect(await stored()).toBe(0)
    expect(await db.get(sql`SELECT COUNT(*) AS n FROM ledger_dispatch`)).toEqual({ n: 0 })
    // A request that begins and ends in one turn is not written.
    const short = traces.begin('req_short', 1, KNOWN)
    await Promise.all([commits.add([short]), commits.add([new TraceEnd(short, true)])])
    expect(await stored()).toBe(0)
    await db.close()
  })

  it('uses a row again in the commit that ends its last request, and only then', async () => {
    const db = await opened()
    const commits = new GroupCommit(db, fakeClock(), silentLog)
    const traces = new Traces('boot')
    const rows = () => ownPacks(db, 'boot', Number.MAX_SAFE_INTEGER, 10)
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id, i) => traces.begin(`req_${id}`, i + 1, KNOWN)) as [
      Trace,
      Trace,
      Trace,
      Trace,
    ]
    await Promise.all([commits.add([a]), commits.add([b])])
    // One of two ends without a usage row.
    await Promise.all([commits.add([new TraceEnd(a, false)]), commits.add([c])])
    expect((await rows()).map(({ seq, at, requests }) => [seq, at, requests.map((each) => each.request_id)])).toEqual([
      [0, 2, ['req_b']],
      [1, 3, ['req_c']],
    ])
    await Promise.all([commits.add([new TraceEnd(b, false)]), commits.add([d])])
    expect((await rows()).map(({ seq, at, requests }) => [seq, at, requests.map((each) => each.request_id)])).toEqual([
      [0, 4, ['req_d']],
      [1, 3, ['req_c']],
    ])
    await db.close()
  })

  it('does not take a row from a process that seemed dead and has used it again', async () => {
    const db = await opened()
    const commits = new GroupCommit(db, fakeClock(), silentLog)
    const traces = new Traces('boot')
    const [a, b] = ['a', 'b'].map((id) => traces.begin(`req_${id}`, 1, KNOWN)) as [Trace, Trace]
    await commits.add([a])
    const [seen] = await strayPacks(db, 'other', ['', 0], 10)
    await Promise.all([commits.add([new InsertRows([rowOf('req_a')]), new TraceEnd(a, true)]), commits.add([b])])
    expect(await db.tx((tx) => takePack(tx, seen as PackRow))).toEqual([])
    const [now] = await strayPacks(db, 'other', ['', 0], 10)
    expect(now).toMatchObject({ seq: 0 })
    expect((await db.tx((tx) => takePack(tx, now as PackRow))).map(({ request_id }) => request_id)).toEqual(['req_b'])
    await db.close()
  })
})

describe('the stored traces', () => {
  const known = fc.tuple(fc.constantFrom(null, 1), fc.constantFrom('p', 'q'), fc.nat(999), fc.constantFrom([], [true, false]))
  const given = fc.array(fc.record({ at: fc.nat(5000), known }), { minLength: 1, maxLength: 60 })

  it('are read as they were given, in any order', () => {
    fc.assert(
      fc.property(given, (all) => {
        const traces = all.map(({ at, known: [key, provider, bytes, shared] }, i) => ({
          requestId: `req_${i}`,
          at,
          known: [null, key, null, null, null, null, 'api', 'chat', provider, 'm', 'p/m', null, false, bytes, ...shared],
        }))
        const read = unpackTraces(packTraces(traces))
        const expected = traces.map(({ requestId, at, known }) => ({ request_id: requestId, at, facts: factsIn(known) }))
        const byId = (a: { request_id: string }, b: { request_id: string }) => (a.request_id < b.request_id ? -1 : 1)
        expect(read.sort(byId)).toEqual(expected.sort(byId))
      }),
    )
  })

  it('of earlier versions repeat the facts of each request', () => {
    const read = unpackTraces(
      JSON.stringify([
        ['req_1', 5, KNOWN],
        ['req_2', 6, KNOWN],
      ]),
    )
    expect(read).toEqual([
      { request_id: 'req_1', at: 5, facts: factsIn(KNOWN) },
      { request_id: 'req_2', at: 6, facts: factsIn(KNOWN) },
    ])
  })

  it('of sixty requests fit on a page', () => {
    const id = (i: number) => `req_01a21ad7-12f4-7488-aefa-${String(i).padStart(12, '0')}`
    const traces = Array.from({ length: 60 }, (_, i) => ({ requestId: id(i), at: 1_795_746_632_436 + i, known: KNOWN }))
    expect(packTraces(traces).length).toBeLessThan(3800)
  })
})

describe('a request without a reservation', () => {
  let books: Books
  afterEach(() => books.gateway.close())

  it.each([
    false,
    true,
  ])('whose process seems dead is booked as interrupted, and corrected when it ends after all (own row: %s)', async (long) => {
    const clock = fakeClock()
    books = await openBooks({ upstream: [hang()], ports: { clock } })
    const { db } = books.inside
    const server = await books.gateway.listen()
    const controller = new AbortController()
    const asking = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'Hello there' }] }),
      signal: controller.signal,
    }).catch(() => null)
    await expect.poll(() => books.gateway.upstream.requests.length).toBe(1)
    expect(await books.dispatched()).toBe(1)
    if (long) {
      // The job has a jitter, and its first run may come before the request is old enough.
      await clock.advance('7s')
      await expect.poll(() => db.get(sql`SELECT COUNT(*) AS n FROM ledger_traces`)).toEqual({ n: 0 })
      expect(await books.dispatched()).toBe(1)
    }
    await db.run(sql`UPDATE ledger_dispatch SET boot_id = 'gone', at = 0`)
    await db.run(sql`UPDATE ledger_traces SET boot_id = 'gone', at = 0`)
    await recovery({ db, clock, log: silentLog }, instances(db, clock), () => undefined).sweep()
    expect(await books.rows()).toMatchObject([{ interrupted: true, status: 502, model: 'm', provider: 'chat' }])
    controller.abort()
    await asking
    await books.gateway.untilSettled()
    expect(await books.rows()).toMatchObject([{ interrupted: false, status: 499 }])
  })
})
