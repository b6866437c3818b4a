// The vector contract for this process's memory, Redis, and PostgreSQL with pgvector. The real extension runs in PGlite. On a server
// without it the SQL runs over a substitute, and missing features are reported as skipped.
import { vector } from '@electric-sql/pglite-pgvector'
import pglite from 'db0/connectors/pglite'
import { afterEach, describe, expect, it } from 'vitest'
import { db0Database } from '../../../adapters/stores/db0.ts'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { postgresVectors } from '../../../adapters/stores/postgres-vectors.ts'
import { redisVectors } from '../../../adapters/stores/redis-vectors.ts'
import { vectorsContract } from '../../../adapters/testing/contracts/vectors-contract.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { sql } from '../../../core/db/sql.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import type { VectorStore } from '../../../core/types/ports/ports.ts'
import { memoryVectors } from '../../../core/vectors/memory.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { redisEnv, redisLink, untilReady, whyNoRedis } from '../../support/redis.ts'

const unit = (...values: number[]): Float32Array => Float32Array.from(values, (value) => value / Math.hypot(...values))

describe('in memory', () => {
  const cases = vectorsContract('memory', async () => {
    const clock = fakeClock()
    return { instances: [memoryVectors({ clock })], now: clock.now, advance: clock.advance, close: async () => {} }
  })
  for (const { name, run } of cases) it(name, run)

  it('is bounded in bytes over all scopes: the least recently used go first, and a scope alone loses its oldest', () => {
    const clock = fakeClock()
    const store = memoryVectors({ clock, maxBytes: 10_000 })
    const put = (scope: string, id: string, chars: number) =>
      store.put(scope, { id, vector: unit(1, 0), value: 'x'.repeat(chars), expiresAt: clock.now() + 1000 })
    for (const scope of ['a', 'b', 'c']) put(scope, 'one', 1000)
    expect(store.find('a', unit(1, 0))?.id).toBe('one')
    put('d', 'one', 1700)
    expect(['a', 'b', 'c', 'd'].map((scope) => store.has(scope))).toEqual([true, false, true, true])
    for (let n = 0; n < 9; n++) put('d', `n${n}`, 1000)
    expect(['a', 'c', 'd'].map((scope) => store.has(scope))).toEqual([false, false, true])
    expect(store.bytes).toBeLessThanOrEqual(10_000)
    expect(store.find('d', unit(1, 0))?.id).toBe('n8')
    put('e', 'too large', 20_000)
    expect(store.bytes).toBeLessThanOrEqual(10_000)
  })
})

const noRedis = await whyNoRedis()
describe.skipIf(noRedis !== null)(`in Redis${noRedis === null ? '' : ` (${noRedis})`}`, () => {
  const opened = async (replicas: number) => {
    const env = redisEnv()
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const links = await Promise.all(Array.from({ length: replicas }, () => redisLink(env)))
    return {
      links,
      instances: links.map((link) => redisVectors({ link, clock })),
      now: clock.now,
      async advance(ms: number) {
        ahead += ms
      },
      async close() {
        for (const link of links) await link.remove()
      },
    }
  }
  // The system's clock runs in addition to the injected one: "to the millisecond" applies to the memory, which Redis's entries are read
  // into.
  const cases = vectorsContract('Redis', () => opened(2)).filter(({ name }) => !name.includes('to the millisecond'))
  for (const { name, run } of cases) it(name, run)

  it('runs out in Redis too, and goes on alone while Redis is away', async () => {
    const subject = await opened(2)
    try {
      const [here, there] = subject.instances as [VectorStore, VectorStore]
      const [link, other] = subject.links
      await here.add('a', { id: 'x', vector: unit(1, 0), value: 'v', expiresAt: subject.now() + 60_000 })
      expect(await there.nearest('a', unit(1, 0))).toMatchObject({ id: 'x' })
      const [key] = (await link?.redis.keys(`${link.prefix}vec:*`)) ?? []
      const left = (await link?.redis.pttl(key as string)) ?? 0
      expect(left).toBeGreaterThan(50_000)
      expect(left).toBeLessThanOrEqual(60_000)
      // An entry with a short life must not expire the others.
      await here.add('a', { id: 'brief', vector: unit(0, -1), value: 'v', expiresAt: subject.now() + 1000 })
      expect(await link?.redis.pttl(key as string)).toBeGreaterThan(50_000)
      // Continue only then: a late end would close the next connection.
      const ended = new Promise((resolve) => other?.redis.once('end', resolve))
      other?.redis.disconnect()
      await ended
      await there.add('a', { id: 'alone', vector: unit(0, 1), value: 'v', expiresAt: subject.now() + 60_000 })
      expect(await there.nearest('a', unit(1, 0))).toMatchObject({ id: 'x' })
      expect(await there.nearest('a', unit(0, 1))).toMatchObject({ id: 'alone' })
      expect(await here.nearest('a', unit(0, 1))).toMatchObject({ id: 'x' })
      await subject.advance(60_000)
      expect(await here.nearest('a', unit(1, 0))).toBeUndefined()
    } finally {
      const back = subject.links[1]
      await back?.redis.connect().catch(() => {})
      if (back) await untilReady(back)
      await subject.close()
    }
  })

  it('an entry that cannot be read is passed over', async () => {
    const subject = await opened(1)
    try {
      const [store] = subject.instances as [VectorStore]
      const [link] = subject.links
      const key = `${link?.prefix}vec:a`
      await link?.redis.xadd(key, '*', 'i', 'odd', 'v', 'AAA=', 'a', 'v', 'x', '99999999999999')
      await link?.redis.xadd(key, '*', 'nothing', 'known')
      await store.add('a', { id: 'x', vector: unit(1, 0), value: 'v', expiresAt: subject.now() + 60_000 })
      expect(await store.nearest('a', unit(1, 0))).toMatchObject({ id: 'x' })
    } finally {
      await subject.close()
    }
  })
})

const noPostgres = await whyNoPostgres()
const noVector = noPostgres ?? (await whyNoPgvector())

async function whyNoPgvector(): Promise<string | null> {
  const server = await testPostgres()
  const db = await openDatabase(server.url, '.')
  try {
    const found = await db.get(sql`SELECT 1 AS there FROM pg_available_extensions WHERE name = 'vector'`)
    return found === undefined ? 'the extension pgvector is not installed on this server' : null
  } finally {
    await db.close()
    await server.drop()
  }
}

/** The part of pgvector that the driver uses: the type, its cast from numbers, and the cosine distance. */
const STAND_IN = `
  CREATE DOMAIN vector AS real[];
  CREATE FUNCTION cosine_distance(a real[], b real[]) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT 1 - sum(x::float8 * y::float8) / (sqrt(sum(x::float8 * x::float8)) * sqrt(sum(y::float8 * y::float8)))
    FROM unnest(a, b) AS both_of (x, y) $$;
  CREATE OPERATOR <=> (LEFTARG = real[], RIGHTARG = real[], FUNCTION = cosine_distance)`

const KINDS = [
  ['pgvector', 'CREATE EXTENSION vector', noVector],
  ['a stand-in for pgvector', STAND_IN, noPostgres],
] as const

for (const [kind, install, missing] of KINDS) {
  describe.skipIf(missing !== null)(`in PostgreSQL with ${kind}${missing === null ? '' : ` (${missing})`}`, () => {
    let server: TestPostgres
    const dbs: Database[] = []
    const opened = async () => {
      server = await testPostgres()
      const clock = fakeClock()
      for (let i = 0; i < 2; i++) dbs.push(await openDatabase(server.url, '.'))
      await dbs[0]?.run({ text: install, params: [] })
      // Both at once, like replicas that boot together.
      const stores = await Promise.all(dbs.map((db) => postgresVectors(db, clock)))
      return {
        instances: stores as VectorStore[],
        now: clock.now,
        advance: clock.advance,
        close: async () => {},
      }
    }
    afterEach(async () => {
      for (const db of dbs.splice(0)) await db.close()
      await server.drop()
    })
    for (const { name, run } of vectorsContract(kind, opened)) it(name, { timeout: 300_000 }, run)

    it('removes rows that have run out', async () => {
      const { instances, now, advance } = await opened()
      const [store] = instances as [VectorStore]
      await store.add('a', { id: 'x', vector: unit(1, 0), value: 'v', expiresAt: now() + 10 })
      await store.add('a', { id: 'y', vector: unit(1, 0), value: 'v', expiresAt: now() + 20 })
      await advance(10)
      await store.sweep()
      expect(await dbs[0]?.all(sql`SELECT id FROM semantic_cache_vectors`)).toEqual([{ id: 'y' }])
    })
  })
}

// The real extension, compiled to WebAssembly: its own parser, operator and distances. Without replicas, because it is one process.
describe('in PGlite with pgvector', () => {
  const opened = async () => {
    const db = db0Database(pglite({ extensions: { vector }, parsers: { 20: Number, 1700: Number } }), 'postgresql')
    await db.run({ text: 'CREATE EXTENSION vector', params: [] })
    const clock = fakeClock()
    const stores = [await postgresVectors(db, clock), await postgresVectors(db, clock)]
    return { instances: stores as VectorStore[], now: clock.now, advance: clock.advance, close: () => db.close() }
  }
  for (const { name, run } of vectorsContract('PGlite', opened)) it(name, { timeout: 300_000 }, run)
})

it.skipIf(noPostgres !== null)('a database without the type `vector` has no vector store, and gets no table', async () => {
  const server = await testPostgres()
  const db = await openDatabase(server.url, '.')
  try {
    expect(await postgresVectors(db, systemClock)).toBeNull()
    expect(await db.get(sql`SELECT to_regclass('semantic_cache_vectors') IS NULL AS none`)).toEqual({ none: 1 })
  } finally {
    await db.close()
    await server.drop()
  }
})
