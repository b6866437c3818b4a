// The device flow (RFC 8628). The device code stays here, and the interval towards the vendor is kept however often the gateway is polled.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { OAuthClient, OAuthClients } from './clients.ts'
import type { LoginRow, Logins } from './logins.ts'
import type { SignIn } from './sign-in.ts'
import type { Vendor } from './vendor.ts'
import { refused, VendorRefusal } from './vendor-error.ts'

const DEFAULT_INTERVAL_MS = 5000
const SLOWER_MS = 5000
/** RFC 8628 has no lower bound. A vendor that names zero is not asked more often. */
const MIN_INTERVAL_MS = 1000
/** A vendor that fails is asked at least so often, unless its own interval is longer. */
const MAX_BACKOFF_MS = 60_000
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export interface DeviceStart {
  readonly sessionId: string
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string | null
  /** Seconds. */
  readonly interval: number
  readonly expiresIn: number
}

export interface DevicePoll {
  readonly status: 'pending' | 'slow_down' | 'complete' | 'denied' | 'expired'
  readonly connectionId?: number
}

export interface DeviceFlow {
  begin(orgId: number, provider: string): Promise<DeviceStart>
  poll(orgId: number, sessionId: string): Promise<DevicePoll>
}

export interface DeviceFlowParts {
  readonly clients: OAuthClients
  readonly logins: Logins
  readonly vendor: Vendor
  readonly clock: Pick<Clock, 'now'>
  readonly signIn: SignIn
}

export function deviceFlow({ clients, logins, vendor, clock, signIn }: DeviceFlowParts): DeviceFlow {
  return {
    async begin(orgId, provider) {
      const client = clients[provider] as OAuthClient
      if (client.deviceUrl === undefined)
        throw GatewayError.invalid('provider', `\`${provider}\` has no device flow here: use \`authorize\`.`)
      const given = await vendor.device(client).catch((error: unknown) => {
        throw refused(error)
      })
      const lifeMs = Math.round(given.expires_in * 1000)
      const wanted = given.interval === undefined ? DEFAULT_INTERVAL_MS : given.interval * 1000
      const intervalMs = Math.max(MIN_INTERVAL_MS, Math.min(lifeMs, Math.round(wanted)))
      const secrets = { deviceCode: given.device_code }
      const expiresAt = clock.now() + lifeMs
      const sessionId = await logins.begin({ orgId, provider, kind: 'device', secrets, expiresAt, intervalMs })
      return {
        sessionId,
        userCode: given.user_code,
        verificationUri: given.verification_uri,
        verificationUriComplete: given.verification_uri_complete ?? null,
        interval: intervalMs / 1000,
        expiresIn: given.expires_in,
      }
    },

    async poll(orgId, sessionId) {
      const row = await logins.find(orgId, 'device', sessionId)
      if (row === undefined) throw notFound('There is no such sign-in.')
      const { outcome } = row
      if (outcome === 'complete') return { status: 'complete', connectionId: row.connection_id as number }
      if (outcome === 'denied' || outcome === 'expired') return { status: outcome }
      if (row.expires_at <= clock.now()) return ended(row, 'expired')
      if (!(await logins.due(row))) return { status: 'pending' }
      return asked(row)
    },
  }

  async function asked(row: LoginRow): Promise<DevicePoll> {
    const client = clients[row.provider]
    if (client === undefined) throw notFound(`There is no client for \`${row.provider}\` any more.`)
    const { deviceCode = '' } = await logins.secrets(row)
    let answer: Awaited<ReturnType<Vendor['token']>>
    try {
      answer = await vendor.token(client, { grant_type: GRANT, device_code: deviceCode })
    } catch (error) {
      return answerOf(row, error)
    }
    const connectionId = await signIn(row.org_id, row.provider, client, answer)
    await logins.end(row, 'complete', connectionId)
    return { status: 'complete', connectionId }
  }

  async function answerOf(row: LoginRow, error: unknown): Promise<DevicePoll> {
    if (!(error instanceof VendorRefusal)) throw error
    switch (error.code) {
      case 'authorization_pending':
        await logins.wait(row, row.interval_ms)
        return { status: 'pending' }
      case 'slow_down':
        await logins.wait(row, row.interval_ms + SLOWER_MS)
        return { status: 'slow_down' }
      case 'access_denied':
        return ended(row, 'denied')
      case 'expired_token':
      case 'invalid_grant':
        return ended(row, 'expired')
      default:
        if (!error.passing) throw refused(error)
        // RFC 8628, section 3.5: a connection timeout doubles the interval.
        await logins.wait(row, Math.max(row.interval_ms, Math.min(MAX_BACKOFF_MS, row.interval_ms * 2)))
        return { status: 'pending' }
    }
  }

  async function ended(row: LoginRow, outcome: 'denied' | 'expired'): Promise<DevicePoll> {
    await logins.end(row, outcome, null)
    return { status: outcome }
  }
}
