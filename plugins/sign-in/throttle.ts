// Limits failed sign-ins per minute of the wall clock: of the account, of the source address, and in total. An attempt is booked before
// the check and removed when it succeeds, so that a thousand concurrent attempts get no more tries than a thousand in a row.
import ipaddr from 'ipaddr.js'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Clock, Counters } from '../../core/types/ports/ports.ts'

const MINUTE_MS = 60_000
const PER_ACCOUNT = 5
const PER_ADDRESS = 20
/** All callers without a forwarded address share one bucket. */
const WITHOUT_ADDRESS = 5
const ALL = 300

export interface Attempt {
  /** The attempt succeeded: nothing stays booked. `keepAddress`: it still counts for the source address. */
  succeeded(options?: { keepAddress?: boolean }): Promise<void>
}

export interface Throttle {
  /**
   * @param account null: it is not known yet. @param address from the forwarding headers, null when absent. @throws GatewayError 429 until
   * the minute ends.
   */
  attempt(account: string | null, address: string | null): Promise<Attempt>
  /** Books nothing. @throws GatewayError 429 when an attempt from this address would be refused. */
  check(address: string | null): Promise<void>
  /** Returns true once a minute, across replicas, so that refusals write one record instead of many. */
  worthReporting(account: string): Promise<boolean>
}

export function throttle(counters: Pick<Counters, 'debit' | 'once'>, clock: Pick<Clock, 'now'>): Throttle {
  const minute = () => Math.floor(clock.now() / MINUTE_MS)
  const ofAll = ['all', ALL] as const
  const ofAddress = (address: string | null) =>
    address === null ? (['no-address', WITHOUT_ADDRESS] as const) : ([`address:${address}`, PER_ADDRESS] as const)
  return {
    async check(address) {
      const at = minute()
      for (const [name, limit] of [ofAll, ofAddress(address)]) {
        const { total } = await counters.debit(`failed:${name}:${at}`, 0, MINUTE_MS)
        if (total >= limit) throw tooMany((at + 1) * MINUTE_MS - clock.now())
      }
    },
    async attempt(account, address) {
      const at = minute()
      // The address is counted last: attempts with invented addresses hit the other limits first and use no memory.
      const buckets: (readonly [string, number])[] = [
        ofAll,
        ...(account === null ? [] : [[`account:${account}`, PER_ACCOUNT] as const]),
        ofAddress(address),
      ]
      const booked: string[] = []
      const takeBack = async ({ keepAddress = false } = {}): Promise<void> => {
        for (const key of booked.splice(0, buckets.length - (keepAddress ? 1 : 0))) await counters.debit(key, -1, MINUTE_MS)
      }
      for (const [name, limit] of buckets) {
        const key = `failed:${name}:${at}`
        booked.push(key)
        const { total } = await counters.debit(key, 1, MINUTE_MS)
        if (total <= limit) continue
        await takeBack()
        throw tooMany((at + 1) * MINUTE_MS - clock.now())
      }
      return { succeeded: takeBack }
    },
    worthReporting: (account) => counters.once(`reported:${account}:${minute()}`, MINUTE_MS),
  }
}

function tooMany(retryAfterMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return GatewayError.rateLimited(`Too many failed sign-ins. Try again in ${seconds} s.`, Math.max(1, retryAfterMs))
}

/** Returns the address of the last X-Forwarded-For entry, otherwise of X-Real-IP; IPv6 as its /64. null when neither holds an address. */
export function forwardedAddress(headers: Headers): string | null {
  const last = headers.get('x-forwarded-for')?.split(',').at(-1)
  return bucketOf(last) ?? bucketOf(headers.get('x-real-ip'))
}

function bucketOf(text: string | null | undefined): string | null {
  const address = withoutPort((text ?? '').trim().slice(0, 64))
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).toString()
  if (!ipaddr.IPv6.isValid(address)) return null
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** Some proxies write `1.2.3.4:567` and `[::1]:567`. */
function withoutPort(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.includes(']') ? text.indexOf(']') : undefined)
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}
