// Imports a document: compares its rows with the existing ones, then writes all of them or none.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { WORDED } from '../../core/text/issue-text.ts'
import type { PortableKind, PortableRow, PortableService } from '../../core/types/plugin/portable.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { byName, type ExportDocument, inRow, refuseForeign, sortedText } from './document.ts'
import type { Secrets } from './sealed-secrets.ts'

export type ImportAction = 'create' | 'update' | 'unchanged' | 'skip'

export interface ImportStep {
  readonly kind: string
  readonly name: string
  readonly action: ImportAction
  /** Members that differ; empty for new rows. Values of secrets are never shown. */
  readonly changes: readonly string[]
  /** Why the row is skipped, or a remark on a written row. */
  readonly reason: string | null
}

interface Work extends ImportStep {
  readonly source: PortableKind
  readonly index: number
  readonly data: unknown
  readonly secrets: Readonly<Record<string, string>>
}

export interface ImportInit {
  readonly portable: PortableService
  readonly orgId: number | null
  readonly actor: string
  readonly document: ExportDocument
  readonly secrets: Secrets
  readonly dryRun: boolean
}

/** @throws GatewayError 400 with the place in the document; then nothing is written. */
export async function importRows({ portable, orgId, actor, document, secrets, dryRun }: ImportInit): Promise<ImportStep[]> {
  const kinds = portable.kinds()
  refuseForeign(document, kinds)
  const work: Work[] = []
  for (const kind of kinds) {
    const given = document.rows[kind.kind] ?? []
    if (given.length > 0) work.push(...compared(kind, await portable.rows(kind, orgId), given, secrets[kind.kind] ?? {}))
  }
  const changing = work.filter(({ action }) => action === 'create' || action === 'update')
  const concerned = kinds.filter((kind) => changing.some(({ source }) => source === kind))
  if (changing.some((one) => Object.keys(one.secrets).length > 0)) for (const kind of concerned) await kind.prepare?.(orgId)
  const remarks = new Map<Work, string | null>()
  const change = async (db: Db): Promise<void> => {
    const idOf = async (name: string, row: string): Promise<number | null> =>
      (await kinds.find(({ kind }) => kind === name)?.idOf?.(db, orgId, row)) ?? null
    for (const step of changing) {
      const { source, index, name, action, data, secrets: given } = step
      const existing = action === 'update' ? name : null
      const remark = await source.write({ db, orgId, actor, data, secrets: given, existing, idOf }).catch((error: unknown) => {
        throw GatewayError.is(error) ? inRow(GatewayError.from(error), source.kind, index) : error
      })
      remarks.set(step, remark)
    }
  }
  if (changing.length > 0) await (dryRun ? portable.rehearse(change) : portable.write(concerned, change))
  return work.map((step) => {
    const { kind, name, action, changes, reason } = step
    return { kind, name, action, changes, reason: reason ?? remarks.get(step) ?? null }
  })
}

function compared(
  kind: PortableKind,
  rows: readonly PortableRow[],
  given: ExportDocument['rows'][string],
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Work[] {
  const standing = byName(rows)
  const seen = new Set<string>()
  return given.map(({ name, data }, index) => {
    const at = `document.rows.${kind.kind}.${index}`
    if (seen.has(name)) throw GatewayError.invalid(`${at}.name`, `${at}.name: \`${name.slice(0, 100)}\` is there twice.`)
    seen.add(name)
    const parsed = kind.schema.safeParse(data, WORDED)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const place = [`${at}.data`, ...(issue?.path ?? []).map(String)].join('.')
      throw GatewayError.invalid(place, `${place}: ${issue?.message}.`)
    }
    const own = secrets[name] ?? {}
    const unknown = Object.keys(own).find((member) => !kind.secrets.includes(member))
    if (unknown !== undefined) throw GatewayError.invalid(at, `${at}: the secret \`${unknown}\` is none of this kind.`)
    const work = { kind: kind.kind, source: kind, name, index, data: parsed.data, secrets: own }
    return { ...work, ...judged(standing.get(name), data as Readonly<Record<string, Json>>, own) }
  })
}

function judged(
  row: PortableRow | undefined,
  data: Readonly<Record<string, Json>>,
  secrets: Readonly<Record<string, string>>,
): Pick<ImportStep, 'action' | 'changes' | 'reason'> {
  if (row === undefined) return { action: 'create', changes: [], reason: null }
  if (row.managedBy === 'config')
    return { action: 'skip', changes: [], reason: 'gateway.config.ts of this gateway owns the row of this name' }
  const differing = Object.keys(data).filter(
    (member) => sortedText(data[member] ?? null) !== sortedText(row.data[member] ?? null),
  )
  // Without its secret in the document, a row keeps its own.
  const replaced = Object.keys(secrets).filter((member) => secrets[member] !== row.secrets[member])
  const changes = [...differing, ...replaced].sort()
  return { action: changes.length > 0 ? 'update' : 'unchanged', changes, reason: null }
}
