// Stores budgets as rows; money is whole nano-USD.
import { z } from 'zod'
import { type Declaration, ownership } from '../../core/config/owned-rows.ts'
import { replaceRows } from '../../core/db/changed-rows.ts'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { type Budget, type BudgetIncrease, SCOPES, WINDOWS } from './service.ts'

const int = z.number().int()
const text = z.string().nullable()

export const budgetRow = z.object({
  id: int,
  org_id: int,
  scope: z.enum(SCOPES),
  entity_id: int.nullable(),
  entity_label: text,
  period: z.enum(WINDOWS),
  hard_limit_nano: int,
  enabled: int.transform((value) => value !== 0),
  created_at: int,
  updated_at: int,
  managed_by: z.enum(['config', 'api']),
  config_key: text,
  declared: text,
  archived_at: int.nullable(),
})
export type BudgetRow = z.output<typeof budgetRow>

export const increaseRow = z.object({
  id: int,
  budget_id: int,
  amount_nano: int,
  reason: text,
  expires_at: int,
  created_at: int,
  created_by: z.string(),
})
export type IncreaseRow = z.output<typeof increaseRow>

export type BudgetFields = Pick<Budget, 'scope' | 'entityId' | 'entityLabel' | 'window' | 'hardLimitNano' | 'enabled'>

export function budgetOf(row: BudgetRow, increases: readonly IncreaseRow[] = []): Budget {
  return {
    id: row.id,
    orgId: row.org_id === 0 ? null : row.org_id,
    scope: row.scope,
    entityId: row.entity_id,
    entityLabel: row.entity_label,
    window: row.period,
    hardLimitNano: row.hard_limit_nano,
    enabled: row.enabled,
    increases: increases.map((increase) => ({
      id: increase.id,
      amountNano: increase.amount_nano,
      reason: increase.reason,
      expiresAt: increase.expires_at,
      createdAt: increase.created_at,
      createdBy: increase.created_by,
    })),
    managedBy: row.managed_by,
    configKey: row.config_key,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Returns active budgets of every organization by their ids, each with its increases, including ended ones. */
export function loadBudgets(db: Db): Promise<Map<number, Budget>> {
  return activeBudgets(db, null)
}

/** Reads only the budgets with these ids again. */
export async function renewBudgets(db: Db, ids: readonly number[], budgets: Map<number, Budget>): Promise<Map<number, Budget>> {
  return replaceRows(budgets, ids, await activeBudgets(db, ids))
}

async function activeBudgets(db: Db, ids: readonly number[] | null): Promise<Map<number, Budget>> {
  const [ofBudget, asked] =
    ids === null ? [sql.empty, sql.empty] : [sql`budget_id IN ${sql.in(ids)} AND`, sql`id IN ${sql.in(ids)} AND`]
  const increases = new Map<number, IncreaseRow[]>()
  const raised = await db.all(
    sql`SELECT * FROM budgets_increases
        WHERE ${ofBudget} budget_id IN (SELECT id FROM budgets WHERE archived_at IS NULL) ORDER BY id`,
    increaseRow,
  )
  for (const increase of raised) {
    const known = increases.get(increase.budget_id)
    if (known === undefined) increases.set(increase.budget_id, [increase])
    else known.push(increase)
  }
  const rows = await db.all(sql`SELECT * FROM budgets WHERE ${asked} archived_at IS NULL ORDER BY id`, budgetRow)
  return new Map(rows.map((row) => [row.id, budgetOf(row, increases.get(row.id) ?? [])]))
}

export function activeBudget(db: Db, orgId: number | null, id: number): Promise<BudgetRow | undefined> {
  return db.get(sql`SELECT * FROM budgets WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`, budgetRow)
}

/** Returns budgets that may be for this entity: those with its id, and those that name theirs by a label. */
export function budgetsOf(
  db: Db,
  orgId: number | null,
  { scope, window }: Pick<Budget, 'scope' | 'window'>,
  entityId: number | null,
): Promise<BudgetRow[]> {
  return db.all(
    sql`SELECT * FROM budgets WHERE org_id = ${orgId ?? 0} AND scope = ${scope} AND (entity_id = ${entityId} OR entity_id IS NULL)
        AND period = ${window} AND archived_at IS NULL`,
    budgetRow,
  )
}

export async function insertIncrease(db: Db, budgetId: number, increase: Omit<BudgetIncrease, 'id'>): Promise<void> {
  const { amountNano, reason, expiresAt, createdAt, createdBy } = increase
  await db.run(
    sql`INSERT INTO budgets_increases (budget_id, amount_nano, reason, expires_at, created_at, created_by)
        VALUES (${budgetId}, ${amountNano}, ${reason}, ${expiresAt}, ${createdAt}, ${createdBy})`,
  )
}

export function declaredBudgets(db: Db): Promise<BudgetRow[]> {
  return db.all(
    sql`SELECT * FROM budgets WHERE org_id = 0 AND (managed_by = 'config' OR archived_at IS NULL) ORDER BY id`,
    budgetRow,
  )
}

export async function insertBudget(
  db: Db,
  orgId: number | null,
  budget: BudgetFields,
  now: number,
  declaration?: Declaration,
): Promise<BudgetRow> {
  const row = await db.get(
    sql`INSERT INTO budgets (org_id, scope, entity_id, entity_label, period, hard_limit_nano, enabled, created_at, updated_at,
          managed_by, config_key, declared)
        VALUES (${orgId ?? 0}, ${budget.scope}, ${budget.entityId}, ${budget.entityLabel}, ${budget.window},
          ${budget.hardLimitNano}, ${budget.enabled}, ${now}, ${now},
          ${declaration ? 'config' : 'api'}, ${declaration?.config_key ?? null}, ${declaration?.declared ?? null})
        RETURNING *`,
    budgetRow,
  )
  if (row === undefined) throw new Error('The new budget was not stored.')
  return row
}

/** With a declaration the file takes the row over or declares it again; an archived row becomes active. */
export function updateBudget(
  db: Db,
  orgId: number | null,
  id: number,
  budget: BudgetFields,
  now: number,
  declaration?: Declaration,
): Promise<BudgetRow | undefined> {
  // The file names its entity; an adopted row keeps its own.
  const entity = declaration
    ? sql`CASE WHEN scope = ${budget.scope} AND entity_label = ${budget.entityLabel} THEN entity_id ELSE NULL END`
    : sql`${budget.entityId}`
  return db.get(
    sql`UPDATE budgets SET ${ownership(declaration)} entity_id = ${entity}, scope = ${budget.scope}, entity_label = ${budget.entityLabel},
          period = ${budget.window}, hard_limit_nano = ${budget.hardLimitNano}, enabled = ${budget.enabled}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} RETURNING *`,
    budgetRow,
  )
}

export async function archiveBudget(db: Db, orgId: number | null, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE budgets SET archived_at = ${now}, updated_at = ${now} WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`,
  )
  return changes === 1
}
