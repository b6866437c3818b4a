// Credentials that a provider derives from a connection's secret and renews: one load for all requests that wait for it.
import { GatewayError } from './errors/gateway-error.ts'
import type { Clock } from './types/ports/ports.ts'
import type { Awaitable } from './types/request/canonical.ts'

export interface LoadedCredential<T> {
  readonly value: T
  /** Epoch ms. */
  readonly expiresAt: number
}

export interface RenewedOptions<T> {
  readonly clock: Clock
  /** Loads the credential of a secret. Parallel requests share one call; a failure is not kept. */
  load(secret: string): Promise<LoadedCredential<T>>
  /** A value that expires within this time is renewed while requests still use it. Default 60 s. */
  readonly earlyMs?: number
}

export interface RenewedCredentials<T> {
  /** Returns the value itself while it is valid, otherwise one promise for all callers. Rejects with a GatewayError 502. */
  of(secret: string): Awaitable<T>
  /** Forgets a value that the upstream refused, unless it is younger than ten seconds. */
  refused(secret: string): void
}

const EARLY_MS = 60_000
/** A younger value is kept: the refusal was of the one before, or a new one would be refused as well. */
const YOUNG_MS = 10_000
/** Largest number of secrets whose values are kept. The oldest is forgotten first. */
const MAX_KEPT = 1000

interface Entry<T> {
  current: LoadedCredential<T> | null
  loadedAt: number
  loading: Promise<T> | null
}

export function renewedCredentials<T>({ clock, load, earlyMs = EARLY_MS }: RenewedOptions<T>): RenewedCredentials<T> {
  const entries = new Map<string, Entry<T>>()

  const renew = (secret: string, entry: Entry<T>): Promise<T> => {
    entry.loading ??= loaded(secret, entry).finally(() => {
      entry.loading = null
    })
    return entry.loading
  }

  async function loaded(secret: string, entry: Entry<T>): Promise<T> {
    try {
      entry.current = await load(secret)
    } catch (error) {
      throw unavailable(error)
    }
    entry.loadedAt = clock.monotonic()
    return entry.current.value
  }

  return {
    of(secret) {
      const entry = entries.get(secret) ?? { current: null, loadedAt: 0, loading: null }
      if (!entries.has(secret)) {
        if (entries.size >= MAX_KEPT) entries.delete(entries.keys().next().value as string)
        entries.set(secret, entry)
      }
      const { current } = entry
      const left = current === null ? 0 : current.expiresAt - clock.now()
      if (current === null || left <= 0) return renew(secret, entry)
      // The value still serves: a failure shows when it has expired.
      if (left <= earlyMs && entry.loading === null) renew(secret, entry).catch(() => {})
      return current.value
    },
    refused(secret) {
      const entry = entries.get(secret)
      if (entry !== undefined && entry.loading === null && clock.monotonic() - entry.loadedAt >= YOUNG_MS) entries.delete(secret)
    },
  }
}

/** The cause may hold the secret, so the message does not quote it. */
function unavailable(cause: unknown): GatewayError {
  return new GatewayError('The credential of this connection could not be renewed.', {
    status: 502,
    type: 'api_error',
    code: 'credential_unavailable',
    upstream: { kind: 'connect' },
    cause,
  })
}

/** A schema: any zod schema fits. */
interface Parser<T> {
  parse(value: unknown): T
}

/**
 * Reads a secret that is JSON text, such as an id and a key. The last results are kept. The returned function throws a GatewayError 502
 * that names no part of the secret.
 */
export function jsonCredential<T>(schema: Parser<T>): (secret: string | null) => T {
  const kept = new Map<string, T>()
  return (secret) => {
    const known = kept.get(secret ?? '')
    if (known !== undefined) return known
    let parsed: T
    try {
      parsed = schema.parse(JSON.parse(secret ?? ''))
    } catch {
      throw new GatewayError('The key of this connection is not the JSON text that its provider needs.', {
        status: 502,
        type: 'api_error',
        code: 'credential_malformed',
        upstream: { kind: 'status', status: 401 },
      })
    }
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string)
    kept.set(secret ?? '', parsed)
    return parsed
  }
}
