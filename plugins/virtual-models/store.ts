// Stores virtual models as rows; targets and config are JSON in the form of service.ts.
import { z } from 'zod'
import { type Declaration, ownership } from '../../core/config/owned-rows.ts'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { target, virtualModelConfig } from './fields.ts'
import { STRATEGIES, type VirtualModel } from './service.ts'

export const virtualModelRow = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  name: z.string(),
  strategy: z.enum(STRATEGIES),
  modality: z.enum(['text', 'image']),
  enabled: z.number().transform((value) => value !== 0),
  position: z.number().int(),
  targets: jsonColumn(z.array(target)),
  config: jsonColumn(virtualModelConfig),
  description: z.string(),
  created_at: z.number().int(),
  updated_at: z.number().int(),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable(),
  declared: z.string().nullable(),
  archived_at: z.number().int().nullable(),
})
export type VirtualModelRow = z.output<typeof virtualModelRow>

export type VirtualModelFields = Pick<
  VirtualModel,
  'name' | 'strategy' | 'modality' | 'enabled' | 'position' | 'targets' | 'config' | 'description'
>

/** Returns virtual models of every organization, by position. */
export function activeVirtualModels(db: Db): Promise<VirtualModelRow[]> {
  return db.all(sql`SELECT * FROM virtual_models WHERE archived_at IS NULL ORDER BY position, id`, virtualModelRow)
}

export function activeVirtualModel(db: Db, orgId: number | null, id: number): Promise<VirtualModelRow | undefined> {
  return db.get(
    sql`SELECT * FROM virtual_models WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`,
    virtualModelRow,
  )
}

export function declaredVirtualModels(db: Db): Promise<VirtualModelRow[]> {
  return db.all(
    sql`SELECT * FROM virtual_models WHERE org_id = 0 AND (managed_by = 'config' OR archived_at IS NULL) ORDER BY id`,
    virtualModelRow,
  )
}

export async function insertVirtualModel(
  db: Db,
  orgId: number | null,
  model: VirtualModelFields,
  now: number,
  declaration?: Declaration,
): Promise<VirtualModelRow> {
  const row = await db.get(
    sql`INSERT INTO virtual_models (org_id, name, strategy, modality, enabled, position, targets, config, description,
          created_at, updated_at, managed_by, config_key, declared)
        VALUES (${orgId ?? 0}, ${model.name}, ${model.strategy}, ${model.modality}, ${model.enabled}, ${model.position},
          ${JSON.stringify(model.targets)}, ${JSON.stringify(model.config)}, ${model.description}, ${now}, ${now},
          ${declaration ? 'config' : 'api'}, ${declaration?.config_key ?? null}, ${declaration?.declared ?? null})
        RETURNING *`,
    virtualModelRow,
  )
  if (row === undefined) throw new Error('The new virtual model was not stored.')
  return row
}

/** With a declaration the file takes the row over or declares it again; an archived row becomes active. */
export function updateVirtualModel(
  db: Db,
  orgId: number | null,
  id: number,
  model: VirtualModelFields,
  now: number,
  declaration?: Declaration,
): Promise<VirtualModelRow | undefined> {
  return db.get(
    sql`UPDATE virtual_models SET ${ownership(declaration)} name = ${model.name}, strategy = ${model.strategy}, modality = ${model.modality},
          enabled = ${model.enabled}, position = ${model.position}, targets = ${JSON.stringify(model.targets)},
          config = ${JSON.stringify(model.config)}, description = ${model.description}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} RETURNING *`,
    virtualModelRow,
  )
}

export async function archiveVirtualModel(db: Db, orgId: number | null, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE virtual_models SET archived_at = ${now}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`,
  )
  return changes === 1
}

export async function placeVirtualModel(db: Db, orgId: number | null, id: number, position: number, now: number): Promise<void> {
  await db.run(
    sql`UPDATE virtual_models SET position = ${position}, updated_at = ${now} WHERE id = ${id} AND org_id = ${orgId ?? 0}`,
  )
}

export function toggleVirtualModel(db: Db, orgId: number | null, id: number, now: number): Promise<VirtualModelRow | undefined> {
  return db.get(
    sql`UPDATE virtual_models SET enabled = 1 - enabled, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL RETURNING *`,
    virtualModelRow,
  )
}
