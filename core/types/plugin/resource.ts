// Types of rows that gateway.config.ts may declare. The file owns them: they are read-only in the API, and archived when the file no
// longer declares them.
import type { ZodType } from 'zod'
import type { Db, View } from '../ports/db.ts'

/** A row as reconciliation sees it. */
export interface ResourceRow {
  readonly id: number
  /** Unique among active rows; shown in plans. */
  readonly name: string
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  /** The declaration that the row was made from, as canonical JSON; its secrets are references. */
  readonly declared: string | null
  readonly archived: boolean
}

export interface ResourceKind<T = unknown> {
  /** Section of the file: `virtualModels`. */
  readonly section: string
  /** Schema of one entry; issues are reported as `<section>.<key>.<path>`. `adopt: true` is removed before. */
  readonly schema: ZodType<T>
  /** The view over these rows. Reconciliation writes through it. */
  readonly view: View<unknown>
  nameOf(key: string, entry: T): string
  /**
   * A hash of inputs that the declaration does not show, such as the value behind a secret reference, so that a changed secret triggers an
   * update. Never the secret itself.
   */
  fingerprint?(key: string, entry: T): string
  rows(db: Db): Promise<ResourceRow[]>
  insert(db: Db, key: string, entry: T, declared: string): Promise<void>
  /** Also restores an archived row and takes over a row that the API created. */
  update(db: Db, row: ResourceRow, key: string, entry: T, declared: string): Promise<void>
  archive(db: Db, row: ResourceRow): Promise<void>
}
