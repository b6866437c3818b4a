// Fetches the endpoints and keys that the issuer publishes. Both are cached, and stay usable while the issuer fails.
import type { createLocalJWKSet, JSONWebKeySet } from 'jose'
import { z } from 'zod'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { IssuerCalls } from './calls.ts'
import { refusal } from './refusal.ts'

const address = z.url({ protocol: /^https?$/ }).max(2000)
const discovery = z.object({
  issuer: z.string().max(2000),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
})
export type Metadata = z.output<typeof discovery>

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })

export type KeySet = ReturnType<typeof createLocalJWKSet>

export interface Issuer {
  /** @throws GatewayError 503. */
  metadata(): Promise<Metadata>
  /** @throws GatewayError 503. */
  keys(): Promise<KeySet>
  /** The keys after a token named an unknown one: fetched again, but at most every 30 s; null: too early. @throws GatewayError 503. */
  newerKeys(): Promise<KeySet | null>
}

const MINUTE_MS = 60_000
const METADATA_MS = 60 * MINUTE_MS
const KEYS_MS = 10 * MINUTE_MS
const UNKNOWN_KEY_MS = 30_000
/** A value that cannot be loaded again is used until this age. */
const STALE_MS = 24 * 60 * MINUTE_MS

export function issuerAt(url: string, calls: IssuerCalls, clock: Pick<Clock, 'monotonic'>): Issuer {
  const base = url.replace(/\/+$/, '')
  const metadata = cached(clock, METADATA_MS, async () => {
    const { status, json } = await calls.get(`${base}/.well-known/openid-configuration`)
    const found = discovery.safeParse(json)
    if (status !== 200 || !found.success) throw refusal('issuer_unavailable', 'It published no usable configuration.')
    // Without this check one issuer could speak for another.
    if (found.data.issuer.replace(/\/+$/, '') !== base)
      throw refusal('issuer_unavailable', 'It names another issuer than GATEWAY_IDP_ISSUER.')
    if (base.startsWith('https:') && endpointsOf(found.data).some((endpoint) => !endpoint.startsWith('https:')))
      throw refusal('issuer_unavailable', 'It published an address without TLS.')
    return found.data
  })
  const keys = cached(clock, KEYS_MS, async () => {
    const { status, json } = await calls.get((await metadata.get()).jwks_uri)
    const found = keySet.safeParse(json)
    if (status !== 200 || !found.success) throw refusal('issuer_unavailable', 'It published no usable keys.')
    const jose = await import('jose')
    return jose.createLocalJWKSet(found.data as JSONWebKeySet)
  })
  let unknownAt = Number.NEGATIVE_INFINITY
  return {
    metadata: metadata.get,
    keys: keys.get,
    async newerKeys() {
      if (clock.monotonic() - unknownAt < UNKNOWN_KEY_MS) return null
      unknownAt = clock.monotonic()
      return keys.reload()
    },
  }
}

function endpointsOf(found: Metadata): string[] {
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = found
  return [authorization_endpoint, token_endpoint, jwks_uri, ...(userinfo_endpoint === undefined ? [] : [userinfo_endpoint])]
}

/** Concurrent callers share one load. */
function cached<T>(clock: Pick<Clock, 'monotonic'>, ms: number, load: () => Promise<T>) {
  let held: { value: T; at: number } | null = null
  let loading: Promise<T> | null = null
  const reload = (): Promise<T> => {
    loading ??= load()
      .then((value) => {
        held = { value, at: clock.monotonic() }
        return value
      })
      .finally(() => {
        loading = null
      })
    return loading
  }
  return {
    reload,
    async get(): Promise<T> {
      if (held === null) return reload()
      const { value, at } = held
      const age = clock.monotonic() - at
      if (age < ms) return value
      return reload().catch((error: unknown) => {
        if (age > STALE_MS) throw error
        return value
      })
    },
  }
}
