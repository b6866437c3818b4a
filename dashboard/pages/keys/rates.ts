// Limits per minute of keys, and how much of them is used now.
import { type Got, useGet } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import type { Key } from './key-form.tsx'

export type Rates = Got<'/api/rate-limits'>['data'][number]

const LOOK_MS = 5000

/** Returns the use by id of the keys that have a limit. */
export function useRates(listed: readonly Key[], open: Key | undefined): ReadonlyMap<number, Rates> {
  const limited = [...listed, ...(open === undefined ? [] : [open])].filter(
    ({ rate_limit_rpm, rate_limit_tpm }) => rate_limit_rpm !== null || rate_limit_tpm !== null,
  )
  const ids = [...new Set(limited.map(({ id }) => id))]
  const rates = useGet(ids.length === 0 ? null : '/api/rate-limits', { query: { key_id: ids.join(',') } }, LOOK_MS)
  return new Map((rates.data?.data ?? []).map((one) => [one.key_id, one]))
}

/** `12 of 60`, or the limit alone while its use is unknown. */
export function rateOf(limit: number, use: Rates['requests_per_minute'] | undefined): string {
  return use == null ? count(limit) : `${count(use.used)} of ${count(limit)}`
}

export function ratesOf({ rate_limit_rpm: rpm, rate_limit_tpm: tpm }: Key, use: Rates | undefined): string {
  const limits = [
    ...(rpm === null ? [] : [`${rateOf(rpm, use?.requests_per_minute)} requests`]),
    ...(tpm === null ? [] : [`${rateOf(tpm, use?.tokens_per_minute)} tokens`]),
  ]
  return limits.length === 0 ? 'none' : limits.join(', ')
}
