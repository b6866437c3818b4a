// Config as code: creates, changes, archives and restores the rows that the file declares, until the database matches the file. Rows that
// the API created stay unchanged, unless the file adopts them.
import { lock } from '../db/lock.ts'
import { rehearse } from '../db/rehearse.ts'
import { isUniqueViolation } from '../db/storage-fault.ts'
import type { ViewHub } from '../db/views.ts'
import { WORDED } from '../text/issue-text.ts'
import type { ResourceKind, ResourceRow } from '../types/plugin/resource.ts'
import type { Db, View } from '../types/ports/db.ts'
import { changesBetween, declaredText, type MemberChange } from './declaration.ts'

export type PlanAction = 'create' | 'update' | 'revive' | 'adopt' | 'archive' | 'conflict'

export interface PlanStep {
  readonly section: string
  readonly key: string
  readonly name: string
  readonly action: PlanAction
  /** The row, if there is one. */
  readonly id: number | null
  /** Members that differ; all members of a new row. */
  readonly changes: readonly MemberChange[]
}

/** Compares the rows that the configuration file declares with the database. It changes nothing. */
export interface ConfigPlan {
  /** Returns the steps that reconciling would take, and tries them. Rejects when the database refuses one. */
  checked(): Promise<readonly PlanStep[]>
  /** Returns the same steps without trying them. */
  differences(): Promise<readonly PlanStep[]>
}

interface Step extends PlanStep {
  /** Changes that release a name run before changes that claim one. */
  release?(db: Db): Promise<void>
  run?(db: Db): Promise<void>
}

export type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** @throws Error naming a section, given or called exclusive, that no plugin of the configuration has. */
export function refuseUnknown(
  { resources, instances }: { resources: readonly ResourceKind[]; instances: readonly { uses: ReadonlySet<string> }[] },
  sections: Sections,
  exclusive: readonly string[],
): void {
  const taken = new Set(resources.map(({ section }) => section))
  // The service contains the connections of the file, so a plugin can use them without rows.
  if (instances.some(({ uses }) => uses.has('configuration'))) taken.add('connections')
  const unknown = (section: string) => !taken.has(section)
  const given = (section: string) => section !== 'connections' || Object.keys(sections.connections ?? {}).length > 0
  const lines = [
    ...Object.keys(sections)
      .filter((section) => unknown(section) && given(section))
      .map((section) => `${section}: no plugin of this configuration takes this section.`),
    ...exclusive.filter(unknown).map((section) => `exclusive: no plugin of this configuration takes the section \`${section}\`.`),
  ]
  if (lines.length === 0) return
  throw wrong([...lines, 'plugins: a list of your own replaces the preset. Write `[...preset(), yours()]` to keep its plugins.'])
}

/**
 * Lists the steps that reconcile would take. Unless there is a conflict, it takes them in a transaction and rolls it back, because the
 * database checks rules that no schema can.
 * @throws Error that names the invalid entry of the file.
 */
export async function planOf(kinds: readonly ResourceKind[], sections: Sections, db: Db): Promise<PlanStep[]> {
  const planned = await steps(kinds, sections, db)
  if (planned.length > 0 && !planned.some(({ action }) => action === 'conflict'))
    await rehearse(db, (tx) => carryOut(kinds, sections, tx))
  return planned.map(shown)
}

/** @param now returns the kinds and sections of the serving generation. Without a database there are no steps. */
export function configPlanOf(now: () => [readonly ResourceKind[], Sections], db: Db | undefined): ConfigPlan {
  return {
    checked: async () => (db ? planOf(...now(), db) : []),
    differences: async () => (db ? (await steps(...now(), db)).map(shown) : []),
  }
}

/**
 * Takes the steps in one transaction; other replicas wait for it. When it resolves, all views show the changes.
 * @throws Error for an invalid entry, and for a name that a row of the API already has.
 */
export async function reconcile(
  kinds: readonly ResourceKind[],
  sections: Sections,
  db: Db,
  views: Pick<ViewHub, 'writeAll' | 'poll'>,
): Promise<PlanStep[]> {
  // Most boots change nothing, and then nothing is locked or written.
  const planned = await steps(kinds, sections, db)
  const concerned = kinds.filter(({ section }) => planned.some((step) => step.section === section))
  const done =
    planned.length === 0
      ? []
      : await views.writeAll(
          concerned.map(({ view }) => view as View<never>),
          (tx) => carryOut(concerned, sections, tx),
        )
  // Another replica may have made the changes after this one loaded its views, and a running poll may have begun earlier.
  await views.poll()
  await views.poll()
  return done
}

async function carryOut(kinds: readonly ResourceKind[], sections: Sections, tx: Db): Promise<PlanStep[]> {
  await lock(tx, 'reconcile')
  const work = await steps(kinds, sections, tx)
  const conflict = work.find(({ action }) => action === 'conflict')
  if (conflict !== undefined) {
    throw new Error(
      `${conflict.section}.${conflict.key}: the name \`${conflict.name}\` belongs to row ${conflict.id}, which was made through the API. Rename one, delete that row, or say \`adopt: true\` here to take it over; a row that this entry has already is not given up for it.`,
    )
  }
  for (const step of work) await step.release?.(tx)
  for (const step of work) await step.run?.(tx).catch((cause: unknown) => refuseTaken(step, cause))
  return work.map(shown)
}

function refuseTaken({ section, key }: Step, cause: unknown): never {
  if (!isUniqueViolation(cause)) throw cause
  throw new Error(`${section}.${key}: another row has the same name or the same secret already.`, { cause })
}

async function steps(kinds: readonly ResourceKind[], sections: Sections, db: Db): Promise<Step[]> {
  const all: Step[] = []
  for (const kind of kinds) all.push(...stepsOf(kind, sections[kind.section] ?? {}, await kind.rows(db)))
  return all
}

function shown({ release: _, run: __, ...step }: Step): PlanStep {
  return step
}

function stepsOf(kind: ResourceKind, section: Readonly<Record<string, unknown>>, rows: readonly ResourceRow[]): Step[] {
  const ofFile = new Map(rows.filter(({ managedBy }) => managedBy === 'config').map((row) => [row.configKey, row]))
  const ofApi = new Map(rows.filter((row) => row.managedBy === 'api' && !row.archived).map((row) => [row.name, row]))
  const work: Step[] = []
  for (const { key, entry, adopt, name, declared } of entriesOf(kind, section)) {
    const own = ofFile.get(key)
    const rival = ofApi.get(name)
    const row = own ?? (adopt ? rival : undefined)
    const step = { section: kind.section, key, name }
    const hasName = row !== undefined && !row.archived && row.name === name
    if (rival !== undefined && !hasName) {
      work.push({ ...step, action: 'conflict', id: rival.id, changes: [] })
      continue
    }
    if (row === undefined) {
      const changes = changesBetween(null, declared)
      work.push({ ...step, action: 'create', id: null, changes, run: (tx) => kind.insert(tx, key, entry, declared) })
      continue
    }
    const changes = changesBetween(row.declared, declared)
    const action = row.managedBy === 'api' ? 'adopt' : row.archived ? 'revive' : 'update'
    if (action === 'update' && changes.length === 0) continue
    work.push({
      ...step,
      action,
      id: row.id,
      changes,
      // Two rows may swap their names; the update restores the row.
      ...(action === 'update' && !hasName && { release: (tx) => kind.archive(tx, row) }),
      run: (tx) => kind.update(tx, row, key, entry, declared),
    })
  }
  for (const row of ofFile.values()) {
    const key = row.configKey ?? ''
    if (row.archived || Object.hasOwn(section, key)) continue
    const release = (tx: Db) => kind.archive(tx, row)
    work.push({ section: kind.section, key, name: row.name, action: 'archive', id: row.id, changes: [], release })
  }
  return work
}

interface Entry {
  key: string
  entry: unknown
  adopt: boolean
  name: string
  declared: string
}

function entriesOf(kind: ResourceKind, section: Readonly<Record<string, unknown>>): Entry[] {
  const byName = new Map<string, string>()
  return Object.entries(section).map(([key, raw]) => {
    const { adopt, rest, entry } = checked(kind, key, raw)
    const name = kind.nameOf(key, entry)
    const twin = byName.get(name)
    if (twin !== undefined) throw wrong([`${kind.section}.${key}: has the name \`${name}\` of ${kind.section}.${twin}.`])
    byName.set(name, key)
    return { key, entry, adopt, name, declared: declaredText(rest, kind.fingerprint?.(key, entry)) }
  })
}

function checked(kind: ResourceKind, key: string, raw: unknown): { adopt: boolean; rest: object; entry: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw wrong([`${kind.section}.${key}: must be an object.`])
  const { adopt = false, ...rest } = raw as Record<string, unknown>
  const parsed = kind.schema.safeParse(rest, WORDED)
  const lines = (parsed.error?.issues ?? []).map(
    (issue) => `${[kind.section, key, ...issue.path.map(String)].join('.')}: ${issue.message}`,
  )
  if (typeof adopt !== 'boolean') lines.push(`${kind.section}.${key}.adopt: true or false`)
  if (lines.length > 0) throw wrong(lines)
  return { adopt: adopt as boolean, rest, entry: parsed.data }
}

function wrong(lines: readonly string[]): Error {
  return new Error(`The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}
