// Config as code (ARCHITECTURE C.5): rows declared in the file are made, changed, archived and revived so that the database
// says what the file says. Rows made through the API are left alone, unless the file adopts them.
import { lock } from '../db/lock.ts'
import type { ViewHub } from '../db/views.ts'
import type { Db, View } from '../types/db.ts'
import type { ResourceKind, ResourceRow } from '../types/resource.ts'
import { changedMembers, declaredText } from './declared.ts'

export type PlanAction = 'create' | 'update' | 'revive' | 'adopt' | 'archive' | 'conflict'

export interface PlanStep {
  readonly section: string
  readonly key: string
  readonly name: string
  readonly action: PlanAction
  /** The row, where there is one. */
  readonly id: number | null
  /** Members that differ. */
  readonly changes: readonly string[]
}

interface Step extends PlanStep {
  run(db: Db): Promise<void>
}

export type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What reconcile would do. @throws Error naming the entry of the file that is wrong. */
export async function planOf(kinds: readonly ResourceKind[], sections: Sections, db: Db): Promise<PlanStep[]> {
  return (await steps(kinds, sections, db)).map(({ run: _, ...step }) => step)
}

/**
 * Makes it so, in one transaction that other replicas wait for.
 * @throws Error for a wrong entry, and for a name that a row made through the API has already.
 */
export async function reconcile(kinds: readonly ResourceKind[], sections: Sections, db: Db, views: ViewHub): Promise<PlanStep[]> {
  // Most boots change nothing, and then nothing is locked or written.
  if ((await steps(kinds, sections, db)).length === 0) return []
  return views.writeAll(
    kinds.map(({ view }) => view as View<never>),
    async (tx) => {
      await lock(tx, 'reconcile')
      const work = await steps(kinds, sections, tx)
      const conflict = work.find(({ action }) => action === 'conflict')
      if (conflict !== undefined) {
        throw new Error(
          `${conflict.section}.${conflict.key}: the name \`${conflict.name}\` belongs to row ${conflict.id}, which was made through the API. Rename one, delete that row, or say \`adopt: true\` here to take it over.`,
        )
      }
      for (const step of work) await step.run(tx)
      return work.map(({ run: _, ...step }) => step)
    },
  )
}

async function steps(kinds: readonly ResourceKind[], sections: Sections, db: Db): Promise<Step[]> {
  refuseUnknown(kinds, sections)
  const all: Step[] = []
  for (const kind of kinds) all.push(...stepsOf(kind, sections[kind.section] ?? {}, await kind.rows(db)))
  return all
}

function stepsOf(kind: ResourceKind, section: Readonly<Record<string, unknown>>, rows: readonly ResourceRow[]): Step[] {
  const { section: name } = kind
  const work: Step[] = []
  for (const [key, raw] of Object.entries(section)) {
    const { adopt, entry } = checked(kind, key, raw)
    const declared = declaredText(raw, kind.fingerprint?.(key, entry))
    const unique = kind.nameOf(key, entry)
    const own = rows.find((row) => row.managedBy === 'config' && row.configKey === key)
    const rival = rows.find((row) => row.managedBy === 'api' && !row.archived && row.name === unique)
    const step = { section: name, key, name: unique }
    if (own === undefined && rival !== undefined && !adopt) {
      work.push({ ...step, action: 'conflict', id: rival.id, changes: [], run: async () => {} })
      continue
    }
    const row = own ?? (adopt ? rival : undefined)
    if (row === undefined) {
      work.push({ ...step, action: 'create', id: null, changes: [], run: (tx) => kind.insert(tx, key, entry, declared) })
      continue
    }
    const changes = changedMembers(row.declared, declared)
    const action = row.managedBy === 'api' ? 'adopt' : row.archived ? 'revive' : 'update'
    if (action === 'update' && changes.length === 0) continue
    work.push({ ...step, action, id: row.id, changes, run: (tx) => kind.update(tx, row, key, entry, declared) })
  }
  for (const row of rows) {
    if (row.managedBy !== 'config' || row.archived || Object.hasOwn(section, row.configKey ?? '')) continue
    work.push({
      section: name,
      key: row.configKey ?? '',
      name: row.name,
      action: 'archive',
      id: row.id,
      changes: [],
      run: (tx) => kind.archive(tx, row),
    })
  }
  return work
}

function checked(kind: ResourceKind, key: string, raw: unknown): { adopt: boolean; entry: unknown } {
  const { adopt = false, ...rest } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  const parsed = kind.schema.safeParse(rest)
  if (parsed.success) return { adopt: adopt === true, entry: parsed.data }
  const lines = parsed.error.issues.map((issue) => {
    const extra = 'keys' in issue && Array.isArray(issue.keys) ? ` (${issue.keys.join(', ')})` : ''
    return `  ${[kind.section, key, ...issue.path.map(String)].join('.')}: ${issue.message}${extra}`
  })
  throw new Error(`The configuration is wrong:\n${lines.join('\n')}`)
}

function refuseUnknown(kinds: readonly ResourceKind[], sections: Sections): void {
  for (const section of Object.keys(sections)) {
    // Connections are core's own section: they also work from the file alone.
    if (section !== 'connections' && !kinds.some((kind) => kind.section === section))
      throw new Error(`The configuration is wrong:\n  ${section}: no plugin of this configuration takes this section.`)
  }
}
