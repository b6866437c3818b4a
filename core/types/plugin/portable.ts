// Types of rows that `hookgate export` writes and `hookgate import` reads: rows that were created through the API.
import type { ZodType } from 'zod'
import type { Db, View } from '../ports/db.ts'
import type { Json } from '../request/canonical.ts'

export interface PortableRow {
  /** Unique among the rows of its kind, and the same on another gateway: `openai/main`. */
  readonly name: string
  readonly managedBy: 'config' | 'api'
  /** Members in the API's form, without ids and without secrets. */
  readonly data: Readonly<Record<string, Json>>
  /** Plain values by member. They are exported only when they are sealed under a passphrase. */
  readonly secrets: Readonly<Record<string, string>>
  /** True: the row cannot be created elsewhere without its secrets. */
  readonly needsSecrets?: boolean
}

export interface PortableWrite<T> {
  readonly db: Db
  readonly orgId: number | null
  /** The name for columns that record who changed a row. */
  readonly actor: string
  /** Validated with the schema of its kind. */
  readonly data: T
  readonly secrets: Readonly<Record<string, string>>
  /** Name of the row to change; null: a new row. */
  readonly existing: string | null
  /** Returns the id of a row of another kind, also of this import; null: there is none. */
  idOf(kind: string, name: string): Promise<number | null>
}

export interface PortableKind<T = unknown> {
  /** For example `virtual_models`. */
  readonly kind: string
  /** Kinds that are written before this one, because its rows name them. */
  readonly after: readonly string[]
  /** Members of `data`. */
  readonly schema: ZodType<T>
  /** Members of `secrets` that this kind supports. */
  readonly secrets: readonly string[]
  /** True: the rows belong to the whole gateway, and an organization's export leaves them out. */
  readonly global?: boolean
  readonly view: View<unknown>
  /** Returns the rows. @param nameOf returns the name of a row of another kind by its id; null: there is none. */
  rows(orgId: number | null, nameOf: (kind: string, id: number) => string | null): Promise<readonly PortableRow[]>
  /** Called before the transaction when a row with secrets is written. */
  prepare?(orgId: number | null): Promise<void>
  /**
   * Called inside the transaction. Resolves to a remark for the operator; null: there is none. @throws GatewayError with the member as
   * `param`.
   */
  write(write: PortableWrite<T>): Promise<string | null>
  /** Only for kinds that other kinds name. */
  nameOf?(orgId: number | null, id: number): string | null
  /** Called inside the transaction. Only for kinds that other kinds name. */
  idOf?(db: Db, orgId: number | null, name: string): Promise<number | null>
}

/** Type of the service `portable`. */
export interface PortableService {
  /** Returns the kinds of all plugins, each after those that it names. */
  kinds(): readonly PortableKind[]
  rows(kind: PortableKind, orgId: number | null): Promise<readonly PortableRow[]>
  /** Runs one transaction over the views of these kinds. */
  write<T>(kinds: readonly PortableKind[], change: (db: Db) => Promise<T>): Promise<T>
  /** Runs the same transaction and rolls it back. */
  rehearse<T>(change: (db: Db) => Promise<T>): Promise<T>
}
