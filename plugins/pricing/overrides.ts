// Price overrides by model name or glob. They take precedence over every card, an organization's over the operator's.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { PriceList } from './cards/price-names.ts'

export interface Override {
  /** The pattern as given. */
  readonly pattern: string
  readonly prices: PriceList
}

/** By organization, in the given order; 0: the operator's own. */
export type OverrideRows = ReadonlyMap<number, readonly Override[]>

const overrideRow = z.object({
  org_id: z.number().int(),
  pattern: z.string(),
  prices: jsonColumn(z.record(z.string(), z.number().int().min(0))),
})

export async function allOverrides(db: Db): Promise<OverrideRows> {
  const rows = await db.all(
    sql`SELECT org_id, pattern, prices FROM pricing_overrides ORDER BY org_id, position, pattern`,
    overrideRow,
  )
  const byOrg = new Map<number, Override[]>()
  for (const { org_id, ...override } of rows) {
    const found = byOrg.get(org_id)
    if (found === undefined) byOrg.set(org_id, [override])
    else found.push(override)
  }
  return byOrg
}

const AT_ONCE = 100

/** Replaces all overrides of an organization. */
export async function replaceOverrides(
  db: Db,
  orgId: number | null,
  overrides: readonly Override[],
  by: string,
  now: number,
): Promise<void> {
  await db.run(sql`DELETE FROM pricing_overrides WHERE org_id = ${orgId ?? 0}`)
  const rows = overrides.map(({ pattern, prices }, position) => [orgId ?? 0, pattern, position, JSON.stringify(prices), now, by])
  for (let from = 0; from < rows.length; from += AT_ONCE)
    await db.run(
      sql`INSERT INTO pricing_overrides (org_id, pattern, position, prices, updated_at, updated_by)
          VALUES ${sql.values(rows.slice(from, from + AT_ONCE))}`,
    )
}

export interface OverrideIndex {
  readonly any: boolean
  /** Returns the exact one, or the glob with the longest text before its first wildcard. */
  find(provider: string, model: string): Override | null
}

/** @param providerId maps an alias to its id, so that `gemini/…` and `google/…` are equal. */
export function overrideIndex(overrides: readonly Override[], providerId: (name: string) => string): OverrideIndex {
  const exact = new Map<string, Override>()
  const globs: { glob: string; literal: number; override: Override }[] = []
  for (const override of overrides) {
    const pattern = canonical(override.pattern, providerId)
    const literal = pattern.search(/[*?]/)
    if (literal === -1) exact.set(pattern, override)
    else globs.push({ glob: pattern, literal, override })
  }
  globs.sort((a, b) => b.literal - a.literal)
  return {
    any: overrides.length > 0,
    find(provider, model) {
      const bare = model.toLowerCase()
      const full = `${provider.toLowerCase()}/${bare}`
      const found = exact.get(full) ?? exact.get(bare)
      return found ?? globs.find(({ glob }) => globMatch(glob, full) || globMatch(glob, bare))?.override ?? null
    },
  }
}

function canonical(pattern: string, providerId: (name: string) => string): string {
  const lower = pattern.toLowerCase()
  const slash = lower.indexOf('/')
  return slash > 0 ? `${providerId(lower.slice(0, slash)).toLowerCase()}${lower.slice(slash)}` : lower
}
