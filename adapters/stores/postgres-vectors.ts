// Stores vectors in PostgreSQL with the extension pgvector, which compares them. There is no index: it would cover all scopes, and a
// scope has at most 2,000 vectors.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock, VectorMatch, VectorStore } from '../../core/types/ports/ports.ts'
import { MAX_ENTRIES } from '../../core/vectors/memory.ts'

/** Returns null when this database has no type `vector`. The table is created here, because only such a database can have it. */
export async function postgresVectors(db: Db, clock: Pick<Clock, 'now'>): Promise<VectorStore | null> {
  if (db.dialect !== 'postgresql') return null
  const found = await db.get<{ there: number }>(sql`SELECT to_regtype('vector') IS NOT NULL AS there`)
  if (found?.there !== 1) return null
  await db.tx(async (tx) => {
    // Replicas that boot together would create it twice.
    await tx.get(sql`SELECT pg_advisory_xact_lock(hashtextextended('semantic_cache_vectors', 0))`)
    await tx.run(sql`CREATE TABLE IF NOT EXISTS semantic_cache_vectors (
      scope TEXT NOT NULL,
      id TEXT NOT NULL,
      embedding vector NOT NULL,
      value TEXT NOT NULL,
      expires_at BIGINT NOT NULL,
      seq BIGINT GENERATED ALWAYS AS IDENTITY,
      PRIMARY KEY (scope, id)
    )`)
    await tx.run(sql`CREATE INDEX IF NOT EXISTS semantic_cache_vectors_newest ON semantic_cache_vectors (scope, seq DESC)`)
  })

  return {
    async add(scope, { id, vector, value, expiresAt }) {
      await db.run(sql`INSERT INTO semantic_cache_vectors (scope, id, embedding, value, expires_at)
        VALUES (${scope}, ${id}, ${arrayOf(vector)}::real[]::vector, ${value}, ${expiresAt})
        ON CONFLICT (scope, id) DO UPDATE
        SET embedding = excluded.embedding, value = excluded.value, expires_at = excluded.expires_at`)
      await db.run(sql`DELETE FROM semantic_cache_vectors WHERE scope = ${scope} AND seq <= (
        SELECT seq FROM semantic_cache_vectors WHERE scope = ${scope} ORDER BY seq DESC OFFSET ${MAX_ENTRIES} LIMIT 1)`)
    },
    nearest: (scope, vector) =>
      db.get<
        VectorMatch & Record<string, unknown>
      >(sql`SELECT id, value, 1 - (embedding <=> ${arrayOf(vector)}::real[]::vector) AS similarity
        FROM semantic_cache_vectors WHERE scope = ${scope} AND expires_at > ${clock.now()}
          AND array_length(embedding::real[], 1) = ${vector.length}
        ORDER BY embedding <=> ${arrayOf(vector)}::real[]::vector, seq DESC LIMIT 1`),
    async sweep() {
      await db.run(sql`DELETE FROM semantic_cache_vectors WHERE expires_at <= ${clock.now()}`)
    },
  }
}

/** Writes an array in PostgreSQL's syntax, which pgvector casts. */
function arrayOf(vector: Float32Array): string {
  return `{${vector.join(',')}}`
}
