// Types of the provider port: an upstream service, its credential and its dialects.

import type { ServedOperations } from '../operations/operation.ts'
import type { OfferHost } from '../plugin/offer-host.ts'
import type { Awaitable, BuiltInDialect, CanonicalRequest, Dialect, Frozen } from '../request/canonical.ts'
import type { CodecContext, ModelCaps, Quirks } from '../request/dialect.ts'
import type { Result } from '../request/result.ts'
import type { WireRequest } from './ports.ts'

/** Facts that override those of the model's family; `none`: no fact is known. */
export type ConnectionCaps = 'none' | Partial<ModelCaps>

export interface Connection {
  /** Named `account_id` in the API, the log and events. */
  readonly id: string
  readonly provider: string
  readonly baseUrl: string | null
  readonly label: string
  readonly wireFormat: BuiltInDialect | null
  /** Globs over the bare model id; empty = all. */
  readonly allowedModels: readonly string[]
  /** The lowest number is tried first. */
  readonly priority: number
  readonly maxInflight: number | null
  readonly proxyUrl: string | null
  readonly headers: Readonly<Record<string, string>>
  /** Header values that came from secret references: errors never show them. */
  readonly headerSecrets?: readonly string[]
  readonly defaultModel: string | null
  /** True: the credential is an access token of a sign-in. It is sent as `Authorization: Bearer`, whatever the provider does with keys. */
  readonly bearer?: boolean
  /** Absent or null: the facts of the model's family apply. */
  readonly caps?: ConnectionCaps | null
}

/** The facts of a call that `authorize` may use. */
export interface AuthorizedCall {
  readonly connection: Connection
  /** The bare upstream model; null for calls that name none, such as a list of models. */
  readonly target: { readonly model: string } | null
}

/** A header with the version of the client, where a vendor documents one for third-party clients. */
export interface ClientVersion {
  readonly header: string
  readonly version: string
}

export interface Provider {
  readonly id: string
  readonly aliases: readonly string[]
  /** Display name; default: the id. */
  readonly name?: string
  /** Address of its API documentation. */
  readonly docsUrl?: string | null
  /** Everything before the operation path; null for local and custom providers. */
  readonly baseUrl: string | null
  /** The dialects it speaks. The value is a base URL when it differs, otherwise ''. The first is preferred. */
  readonly dialects: Readonly<Partial<Record<Dialect, string>>>
  readonly quirks: Readonly<Quirks>
  /** The operations other than chat that it serves; absent: none. */
  readonly operations?: ServedOperations
  /** For trying things out. On the cloud profile it is available only when the configuration has a connection to it. */
  readonly forTrial?: boolean
  /** False when no credential is needed (ollama, echo). */
  readonly needsKey: boolean
  caps(model: string): ModelCaps
  /** Returns the dialect to speak for this request; a connection's own wire format overrides it. `request` decodes when called. */
  dialectFor(request: () => Frozen<CanonicalRequest>, caller: Dialect, caps: Readonly<ModelCaps>, connection: Connection): Dialect
  /**
   * Adds the credential, once for each attempt; besides the transport, only this function sees it. It may change method, address, headers
   * and body, and may return a promise: a request waits for none otherwise. A failure is one of the connection, so the next one is tried.
   */
  authorize(wire: WireRequest, dialect: Dialect, secret: string | null, call: AuthorizedCall): Awaitable<void>
  /** Sent with every call; the value is overridden by GATEWAY_FINGERPRINT_VERSIONS. */
  readonly clientVersion?: ClientVersion
  /** Members that need the clock or the network, such as tokens. Called once for each gateway. */
  hosted?(host: OfferHost): Partial<Pick<Provider, 'authorize' | 'refused'>>
  /** Called after a 401 or 403 of the upstream: a provider that keeps a derived token forgets it. */
  refused?(secret: string | null): void
  /** Answers without a transport: local providers (echo). */
  answer?(request: Frozen<CanonicalRequest>, codec: CodecContext): Result
}
