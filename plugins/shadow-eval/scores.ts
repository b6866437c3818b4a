// Reads scores: exact from the database, or the means of everything that is kept from memory.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import type { PairScore, Score, ScoreFilter } from './service.ts'

const pairRow = z.object({
  org_id: z.number().int(),
  served_model: z.string(),
  challenger: z.string(),
  samples: z.number().int(),
  total: z.number(),
  compared: z.number().int(),
  compared_total: z.number(),
})

export interface ScoreReader {
  scores(filter: ScoreFilter): Promise<ReadonlyMap<string, Score>>
  pairs(filter: ScoreFilter): Promise<readonly PairScore[]>
  known(orgId: number | null, provider: string, model: string): Score | null
  refresh(): Promise<void>
}

/** @param now the clock: samples that have expired count no more. */
export function scoreReader(db: Db, now: () => number): ScoreReader {
  let memory: ReadonlyMap<string, Score> = new Map()
  const read = (where: Sql) =>
    db.all(
      sql`SELECT org_id, served_model, challenger, COUNT(*) AS samples, SUM(score) AS total,
            SUM(CASE WHEN method = 'token_f1' THEN 0 ELSE 1 END) AS compared,
            SUM(CASE WHEN method = 'token_f1' THEN 0 ELSE score END) AS compared_total
          FROM shadow_eval_samples
          WHERE state = 'scored' AND expires_at > ${now()} AND ${where}
          GROUP BY org_id, served_model, challenger ORDER BY served_model, challenger`,
      pairRow,
    )
  const within = ({ orgId, since, until }: ScoreFilter) => read(sql`org_id = ${orgId ?? 0} AND at >= ${since} AND at < ${until}`)
  return {
    async pairs(filter) {
      return (await within(filter)).map(({ served_model, challenger, samples, total, compared, compared_total }) => ({
        served: served_model,
        challenger,
        samples,
        score: total / samples,
        compared: compared === 0 ? null : { samples: compared, score: compared_total / compared },
      }))
    },
    scores: async (filter) => merged(await within(filter), ({ challenger }) => challenger),
    known: (orgId, provider, model) => memory.get(`${orgId ?? 0} ${provider}/${model}`) ?? null,
    async refresh() {
      memory = merged(await read(sql`1 = 1`), ({ org_id, challenger }) => `${org_id} ${challenger}`)
    },
  }
}

type Row = z.output<typeof pairRow>

function merged(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, Score> {
  const sums = new Map<string, { samples: number; total: number }>()
  for (const row of rows) {
    const before = sums.get(keyOf(row)) ?? { samples: 0, total: 0 }
    sums.set(keyOf(row), { samples: before.samples + row.samples, total: before.total + row.total })
  }
  return new Map([...sums].map(([key, { samples, total }]) => [key, { samples, score: total / samples }]))
}
