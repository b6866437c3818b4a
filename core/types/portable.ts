// Rows that `hookgate export` writes and `hookgate import` reads: those that people made through the API.
import type { ZodType } from 'zod'
import type { Json } from './canonical.ts'
import type { Db, View } from './db.ts'

export interface PortableRow {
  /** Unique among the rows of its kind, and the same on another gateway: `openai/main`. */
  readonly name: string
  readonly managedBy: 'config' | 'api'
  /** Members as the API takes them, without ids and without secrets. */
  readonly data: Readonly<Record<string, Json>>
  /** Plain values by member. They leave the gateway only sealed under a passphrase. */
  readonly secrets: Readonly<Record<string, string>>
  /** Without its secrets the row cannot be made elsewhere. */
  readonly needsSecrets?: boolean
}

export interface PortableWrite<T> {
  readonly db: Db
  readonly orgId: number | null
  /** For columns that say who changed a row. */
  readonly actor: string
  /** Checked by the schema of its kind. */
  readonly data: T
  readonly secrets: Readonly<Record<string, string>>
  /** Name of the row that is changed; null: a new row. */
  readonly existing: string | null
  /** The id of a row of another kind, those of this import included; null: there is none. */
  idOf(kind: string, name: string): Promise<number | null>
}

export interface PortableKind<T = unknown> {
  /** `virtual_models` */
  readonly kind: string
  /** Kinds that are written before this one: its rows name them. */
  readonly after: readonly string[]
  /** Members of `data`. */
  readonly schema: ZodType<T>
  /** Members of `secrets` that this kind knows. */
  readonly secrets: readonly string[]
  readonly view: View<unknown>
  /** @param nameOf the name of a row of another kind by its id; null: there is none. */
  rows(orgId: number | null, nameOf: (kind: string, id: number) => string | null): Promise<readonly PortableRow[]>
  /** Before the transaction, when a row with secrets is written. */
  prepare?(orgId: number | null): Promise<void>
  /** Inside the transaction. Resolves with a remark for the operator; null: there is none. @throws GatewayError with the member as `param`. */
  write(write: PortableWrite<T>): Promise<string | null>
  /** Only for kinds that others name. */
  nameOf?(orgId: number | null, id: number): string | null
  /** Inside the transaction. Only for kinds that others name. */
  idOf?(db: Db, orgId: number | null, name: string): Promise<number | null>
}

/** The service `portable`. */
export interface PortableService {
  /** Kinds of all plugins, each after those that it names. */
  kinds(): readonly PortableKind[]
  rows(kind: PortableKind, orgId: number | null): Promise<readonly PortableRow[]>
  /** One transaction over the views of these kinds. */
  write<T>(kinds: readonly PortableKind[], change: (db: Db) => Promise<T>): Promise<T>
  /** The same, rolled back. */
  rehearse<T>(change: (db: Db) => Promise<T>): Promise<T>
}
