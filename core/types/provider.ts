// The provider port: who answers, under which credential, in which dialects.
import type { Awaitable, CanonicalRequest, Dialect, Frozen } from './canonical.ts'
import type { CodecContext, ModelCaps, Quirks } from './dialect.ts'
import type { WireRequest } from './ports.ts'
import type { Result } from './result.ts'

/** Facts that go over those of the model's family; `none`: no fact is known. */
export type ConnectionCaps = 'none' | Partial<ModelCaps>

export interface Connection {
  /** `account_id` in the API, the log and events. */
  readonly id: string
  readonly provider: string
  readonly baseUrl: string | null
  readonly label: string
  readonly wireFormat: Dialect | null
  /** Globs over the bare model id; empty = all. */
  readonly allowedModels: readonly string[]
  /** Lower first. */
  readonly priority: number
  readonly maxInflight: number | null
  readonly proxyUrl: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly defaultModel: string | null
  /** Absent or null: the facts of the model's family. */
  readonly caps?: ConnectionCaps | null
}

export interface Provider {
  readonly id: string
  readonly aliases: readonly string[]
  /** As people call it; default: the id. */
  readonly name?: string
  /** Where its API is documented. */
  readonly docsUrl?: string | null
  /** Everything before the operation path; null for local and custom providers. */
  readonly baseUrl: string | null
  /** Dialects it speaks; the value is a base URL where it differs, else ''. The first is preferred. */
  readonly dialects: Readonly<Partial<Record<Dialect, string>>>
  readonly quirks: Readonly<Quirks>
  /** For trying things out: on the cloud profile only where the configuration has a connection of it. */
  readonly forTrial?: boolean
  /** False where no credential is needed (ollama, echo). */
  readonly needsKey: boolean
  caps(model: string): ModelCaps
  /** The dialect to speak for this request; a connection's own wire format wins over it. `request` decodes when called. */
  dialectFor(request: () => Frozen<CanonicalRequest>, caller: Dialect, caps: Readonly<ModelCaps>): Dialect
  /** Beside transport the only one that sees a credential. */
  authorize(wire: WireRequest, dialect: Dialect, secret: string | null): Awaitable<void>
  /** Local providers (echo): no transport. */
  answer?(request: Frozen<CanonicalRequest>, codec: CodecContext): Result
}
