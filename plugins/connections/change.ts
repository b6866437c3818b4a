// Computes a connection after a change: the given fields over the existing ones, secrets in plain text, then sealed.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { type CheckRules, checkConnection } from './check.ts'
import { type ConnectionBody, MASK, refuseMaskedProxy, unmasked } from './fields.ts'
import type { OpenConnection, Sealer } from './opened.ts'
import { type ConnectionFields, type ConnectionRow, insertConnection, nextPriority, updateConnection } from './store.ts'

interface Plain {
  secret: string | null
  proxyUrl: string | null
  headers: Readonly<Record<string, string>>
}

export interface Change {
  readonly fields: Omit<ConnectionFields, 'secret' | 'proxy_url' | 'headers' | 'priority'> & { priority: number | null }
  readonly plain: Plain
}

/**
 * @param before null for a new connection.
 * @throws GatewayError 400 naming the invalid field of the result.
 */
export function changeOf(provider: string, body: ConnectionBody, before: OpenConnection | null, rules: CheckRules): Change {
  const kept = <T>(given: T | undefined, old: T): T => (given === undefined ? old : given)
  const was = before?.connection
  const plain: Plain = {
    secret: kept(body.api_key, before?.secret ?? null),
    proxyUrl: kept(body.proxy_url, was?.proxyUrl ?? null),
    headers: body.headers === undefined ? (was?.headers ?? {}) : unmasked(body.headers, was?.headers ?? {}),
  }
  const baseUrl = trimmed(kept(body.base_url, was?.baseUrl ?? null))
  const wireFormat = kept(body.wire_format, was?.wireFormat ?? null)
  const enabled = kept(body.enabled, before?.row.enabled ?? true)
  const signedIn = before?.row.auth_type === 'oauth'
  if (signedIn) refuseForSignIn(body, originOf(baseUrl) !== originOf(was?.baseUrl ?? null))
  const hasKey = plain.secret !== null
  checkConnection({ provider, baseUrl, wireFormat, hasKey, signedIn, enabled, proxyUrl: plain.proxyUrl }, rules)
  if (typeof body.proxy_url === 'string' && body.proxy_url !== 'direct') refuseMaskedProxy(body.proxy_url)
  if (before !== null && originOf(baseUrl) !== originOf(was?.baseUrl ?? null)) refuseOldCredentials(body, plain)
  return {
    plain,
    fields: {
      provider,
      label: kept(body.label, was?.label ?? provider),
      wire_format: wireFormat,
      base_url: baseUrl,
      secret_hint: null,
      priority: kept(body.priority, was?.priority ?? null),
      enabled,
      allowed_models: [...kept(body.allowed_models, [...(was?.allowedModels ?? [])])],
      default_model: kept(body.default_model, was?.defaultModel ?? null),
      max_inflight: kept(body.max_inflight, was?.maxInflight ?? null),
      caps: kept(body.caps, was?.caps ?? null),
      metadata: kept(body.metadata, before?.row.metadata ?? {}),
    },
  }
}

/** Inside a transaction: the row is written first, because its id is bound into the sealed values. */
export async function storeChange(
  db: Db,
  orgId: number | null,
  id: number | null,
  { fields, plain }: Change,
  sealer: Sealer,
  now: number,
): Promise<ConnectionRow | undefined> {
  const priority = fields.priority ?? (await nextPriority(db, orgId))
  const open = { ...fields, priority, secret: null, proxy_url: null, headers: null }
  const rowId = id ?? (await insertConnection(db, orgId, open, now)).id
  const headers = Object.keys(plain.headers).length === 0 ? null : JSON.stringify(plain.headers)
  const sealed = {
    ...open,
    secret: await sealer.seal(plain.secret, 'secret', rowId, orgId),
    proxy_url: await sealer.seal(plain.proxyUrl, 'proxy_url', rowId, orgId),
    headers: await sealer.seal(headers, 'headers', rowId, orgId),
  }
  return updateConnection(db, orgId, rowId, sealed, now)
}

/** Its credential is a sign-in: the vendor gave its tokens for one address. */
function refuseForSignIn(body: ConnectionBody, moved: boolean): void {
  if (typeof body.api_key === 'string')
    throw GatewayError.invalid('api_key', '`api_key`: this connection signs in by OAuth. Add another connection for the key.')
  if (moved) throw GatewayError.invalid('base_url', '`base_url`: the address of a connection that signs in stays; sign in again.')
}

/** A stored credential is not sent to a new address: the person who stored it did not approve that address. */
function refuseOldCredentials(body: ConnectionBody, plain: Plain): void {
  if (body.api_key === undefined && plain.secret !== null)
    throw GatewayError.invalid('api_key', '`api_key`: a new address needs the key again; send both together.')
  const given = body.headers ?? plain.headers
  if (Object.values(given).some((value) => body.headers === undefined || value === MASK))
    throw GatewayError.invalid('headers', '`headers`: a new address needs the headers again; send both together.')
}

function originOf(url: string | null): string | null {
  return url === null ? null : new URL(url).origin
}

function trimmed(url: string | null): string | null {
  return url === null ? null : url.replace(/\/+$/, '')
}
