// The access tokens of all accounts. A valid one is returned without a promise. It is refreshed early, once for all requests and all
// replicas, and a rotated refresh token is stored before its access token is used.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { Awaitable } from '../../core/types/request/canonical.ts'
import type { OAuthClient } from './clients.ts'
import { type AccountRow, accountOf, releaseLease, storeRefresh, type TokenSealer, type TokenSet, takeLease } from './store.ts'
import type { TokenAnswer, Vendor } from './vendor.ts'
import { VendorRefusal } from './vendor-error.ts'

/** A token is refreshed when less time is left, or less than a fifth of its life. */
export const EARLY_MS = 5 * 60_000
/** Longer than both calls of a refresh may take. */
const LEASE_MS = 30_000
const WAIT_MS = 250
const BACKOFF_MS = 30_000
const MAX_BACKOFF_MS = 15 * 60_000
/** A younger token is not renewed after a refusal: the refusal was of the one before. */
const YOUNG_MS = 10_000

export interface TokenParts {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly vendor: Vendor
  readonly sealer: TokenSealer
  /** Unique for each process. */
  readonly owner: string
  clientOf(provider: string): OAuthClient | undefined
  /** The vendor refused the refresh token: the account needs a new sign-in. */
  refusedFor(row: AccountRow): Promise<void>
}

interface Known {
  readonly access: string
  readonly expiresAt: number | null
  readonly refreshAt: number
  readonly since: number
}

interface Backoff {
  readonly since: number
  readonly ms: number
}

export class TokenKeeper {
  readonly #parts: TokenParts
  readonly #known = new Map<string, Known>()
  readonly #running = new Map<string, Promise<string>>()
  readonly #backoff = new Map<string, Backoff>()

  constructor(parts: TokenParts) {
    this.#parts = parts
  }

  /** Returns the access token, or a promise while there is no valid one. Rejects with a GatewayError of the upstream. */
  of(id: string): Awaitable<string> {
    const known = this.#known.get(id)
    const now = this.#parts.clock.now()
    if (known === undefined) return this.#once(id, null)
    if (known.expiresAt !== null && known.expiresAt <= now) return this.#once(id, null)
    // The token still serves: a failure shows when it has expired.
    if (known.refreshAt <= now && !this.#rests(id, now)) this.#once(id, null).catch(() => {})
    return known.access
  }

  /** After a 401. Resolves to true when there is another token than before. */
  async renew(id: string): Promise<boolean> {
    const known = this.#known.get(id)
    if (known === undefined || this.#parts.clock.now() - known.since < YOUNG_MS) return false
    return (await this.#once(id, known.access)) !== known.access
  }

  /** Refreshes now. @throws GatewayError */
  async refresh(id: string): Promise<void> {
    this.#backoff.delete(id)
    const row = await this.#row(id)
    await this.#once(id, (await this.#parts.sealer.open(row)).access)
  }

  forget(id: string): void {
    this.#known.delete(id)
    this.#backoff.delete(id)
  }

  /** Without a valid token the vendor is asked again sooner. */
  #rests(id: string, now: number, valid = true): boolean {
    const backoff = this.#backoff.get(id)
    return backoff !== undefined && backoff.since + (valid ? backoff.ms : Math.min(backoff.ms, BACKOFF_MS)) > now
  }

  #once(id: string, refused: string | null): Promise<string> {
    let one = this.#running.get(id)
    if (one === undefined) {
      one = this.#current(id, refused).finally(() => this.#running.delete(id))
      this.#running.set(id, one)
    }
    return one
  }

  async #current(id: string, refused: string | null): Promise<string> {
    const { db, clock, sealer, owner } = this.#parts
    const until = clock.now() + LEASE_MS
    for (;;) {
      const row = await this.#row(id)
      const tokens = await sealer.open(row)
      if (row.status === 'reauth_required') throw signInNeeded()
      const stored = this.#take(id, row, tokens)
      const now = clock.now()
      const valid = row.expires_at === null || row.expires_at > now
      if (tokens.access !== refused && stored.refreshAt > now) return tokens.access
      // While the vendor fails, a valid token serves; without one each request would ask the vendor again.
      if (this.#rests(id, now, valid)) {
        if (valid && tokens.access !== refused) return tokens.access
        throw unavailable('The vendor did not answer the last refresh. It is tried again soon.')
      }
      if (await takeLease(db, row, owner, now, now + LEASE_MS)) return this.#refreshed(id, row, tokens, refused !== null)
      if (valid && tokens.access !== refused) return tokens.access
      if (now >= until) throw unavailable('Another process refreshes this account and does not finish.')
      await clock.sleep(WAIT_MS)
    }
  }

  /** Holds the lease. `wanted`: the present token does not do, also while it is valid. */
  async #refreshed(id: string, row: AccountRow, tokens: TokenSet, wanted: boolean): Promise<string> {
    const { db, clock, sealer, log, owner } = this.#parts
    try {
      const { answer, used } = await this.#asked(row, tokens)
      const now = clock.now()
      const next: TokenSet = {
        access: answer.access_token,
        refresh: answer.refresh_token ?? used,
        previous: answer.refresh_token === undefined || answer.refresh_token === used ? tokens.previous : used,
      }
      const expiresAt = answer.expires_in === undefined ? null : now + Math.round(answer.expires_in * 1000)
      const sealed = await sealer.seal(next, row.connection_id, row.org_id)
      const stored = await this.#stored(row, { sealed, expiresAt, now })
      this.#backoff.delete(id)
      // A new sign-in was stored meanwhile: its tokens count.
      if (!stored) return (await sealer.open(await this.#row(id))).access
      return this.#take(id, { ...row, expires_at: expiresAt, refreshed_at: now }, next).access
    } catch (error) {
      if (error instanceof VendorRefusal && error.code === 'invalid_grant') {
        this.forget(id)
        await this.#parts.refusedFor(row)
        throw signInNeeded()
      }
      const ms = Math.min(MAX_BACKOFF_MS, (this.#backoff.get(id)?.ms ?? BACKOFF_MS / 2) * 2)
      this.#backoff.set(id, { ms, since: clock.now() })
      log.warn('oauth.not_refreshed', { connection: id, provider: row.provider, code: codeOf(error), again_in_ms: ms })
      await releaseLease(db, row.connection_id, owner).catch(() => {})
      const valid = row.expires_at !== null && row.expires_at > clock.now()
      if (valid && !wanted) return tokens.access
      throw unavailable(error instanceof VendorRefusal ? error.message : 'The new token could not be stored.')
    }
  }

  /** Tries the refresh token, then the one before it: a rotation may have been lost on the way. */
  async #asked(row: AccountRow, { refresh, previous }: TokenSet): Promise<{ answer: TokenAnswer; used: string }> {
    const { vendor, clientOf } = this.#parts
    const client = clientOf(row.provider)
    if (client === undefined) throw new VendorRefusal('unauthorized_client')
    if (refresh === null) throw new VendorRefusal('invalid_grant')
    const ask = async (token: string) => ({
      answer: await vendor.token(client, { grant_type: 'refresh_token', refresh_token: token }),
      used: token,
    })
    try {
      return await ask(refresh)
    } catch (error) {
      const refusal = error instanceof VendorRefusal && error.code === 'invalid_grant'
      if (!refusal || previous === null || previous === refresh) throw error
      return ask(previous)
    }
  }

  /** The vendor has rotated: a database that is busy for a moment must not cost the account. */
  async #stored(row: AccountRow, tokens: Parameters<typeof storeRefresh>[2]): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await storeRefresh(this.#parts.db, row, tokens)
      } catch (error) {
        if (tries === 5) throw error
        await this.#parts.clock.sleep(tries * 200)
      }
    }
  }

  #take(id: string, row: AccountRow, { access }: TokenSet): Known {
    const life = row.expires_at === null ? 0 : row.expires_at - row.refreshed_at
    const refreshAt =
      row.expires_at === null ? Number.POSITIVE_INFINITY : row.expires_at - Math.min(EARLY_MS, Math.round(life / 5))
    const known = { access, expiresAt: row.expires_at, refreshAt, since: row.refreshed_at }
    this.#known.set(id, known)
    return known
  }

  async #row(id: string): Promise<AccountRow> {
    const row = await accountOf(this.#parts.db, Number(id))
    if (row !== undefined) return row
    this.forget(id)
    throw signInNeeded()
  }
}

function codeOf(error: unknown): string {
  return error instanceof VendorRefusal ? error.code : GatewayError.is(error) ? (error.code ?? 'error') : 'error'
}

function signInNeeded(): GatewayError {
  return new GatewayError('The account of this connection needs a new sign-in.', {
    status: 502,
    type: 'api_error',
    code: 'reauth_required',
    skip: 'reauth_required',
  })
}

function unavailable(message: string): GatewayError {
  return new GatewayError(`The token of this account could not be refreshed. ${message}`, {
    status: 502,
    type: 'api_error',
    code: 'credential_unavailable',
    upstream: { kind: 'connect' },
  })
}
