// The range of the list: the last hours or days, or two points in time. It is in the address.
import { useMemo } from 'preact/hooks'
import { gatewayTime } from '../../api/gateway-time.ts'
import { query as address, setQuery } from '../../app/location.ts'

export const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const
export type RangeName = keyof typeof RANGES | 'all' | 'custom'

export interface Range {
  readonly name: RangeName
  /** RFC 3339; null: no bound. */
  readonly since: string | null
  readonly until: string | null
}

export function useRange(): Range {
  const given = address.value.get('range') ?? 'all'
  const since = instant(address.value.get('since'))
  const until = instant(address.value.get('until'))
  return useMemo(() => {
    if (since !== null || until !== null) return { name: 'custom', since, until }
    if (!Object.hasOwn(RANGES, given)) return { name: 'all', since: null, until: null }
    const name = given as keyof typeof RANGES
    return { name, since: new Date(gatewayTime() - RANGES[name]).toISOString(), until: null }
  }, [given, since, until])
}

export function pick(name: string): void {
  setQuery({ range: name === 'all' ? null : name, since: null, until: null })
}

/** Shows what lies between two points in time. */
export function zoom(since: number, until: number): void {
  setQuery({ range: null, since: new Date(since).toISOString(), until: new Date(until).toISOString() })
}

/** Puts the points in time of a moving range into the address, so that a link shows the same requests tomorrow. */
export function fix({ since }: Range): void {
  setQuery({ range: null, since, until: new Date(gatewayTime()).toISOString() })
}

function instant(text: string | null): string | null {
  const at = Date.parse(text ?? '')
  return Number.isFinite(at) && /^\d{4}-/.test(text ?? '') ? new Date(at).toISOString() : null
}
