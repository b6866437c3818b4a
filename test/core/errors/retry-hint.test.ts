import { describe, expect, it } from 'vitest'
import { durationMs, retryHint } from '../../../core/errors/retry-hint.ts'
import { headerBag } from '../../../core/http/headers.ts'

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0)
const hint = (headers: Record<string, string>, body = '') =>
  retryHint(headerBag(Object.entries(headers).flat()), new TextEncoder().encode(body), NOW)
const iso = (ms: number) => new Date(NOW + ms).toISOString()
const http = (ms: number) => new Date(NOW + ms).toUTCString()

describe('the upstream’s "try again later"', () => {
  it.each([
    ['retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '60' }, '', 1500],
    ['retry-after in seconds', { 'retry-after': '30' }, '', 30_000],
    ['retry-after as a float', { 'retry-after': '2.5' }, '', 2500],
    ['retry-after 0 is one second', { 'retry-after': '0' }, '', 1000],
    ['retry-after as an HTTP date', { 'retry-after': http(90_000) }, '', 90_000],
    [
      'a date is measured against the upstream’s own clock',
      { 'retry-after': http(3_690_000), date: http(3_600_000) },
      '',
      90_000,
    ],
    ['a date in the past is now', { 'retry-after': http(-60_000) }, '', 1000],
    ['a day and more is kept: it is a quota', { 'retry-after': '86400' }, '', 86_400_000],
    [
      'reset-requests with an empty bucket',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' },
      '',
      360_000,
    ],
    [
      'the longer of two empty buckets',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '12s',
      },
      '',
      12_000,
    ],
    [
      'anthropic reset',
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': iso(45_000) },
      '',
      45_000,
    ],
    ['x-ratelimit-reset as a delta', { 'x-ratelimit-reset': '20' }, '', 20_000],
    ['x-ratelimit-reset as epoch seconds', { 'x-ratelimit-reset': String(NOW / 1000 + 26) }, '', 26_000],
    ['x-ratelimit-reset as epoch ms', { 'x-ratelimit-reset': String(NOW + 26_000) }, '', 26_000],
    [
      'Google RetryInfo',
      {},
      '{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26s"}]}}',
      26_000,
    ],
    ['a fraction of a second in RetryInfo', {}, '{"error":{"details":[{"retryDelay":"34.074824224s"}]}}', 34_075],
    ['resets_in_seconds', {}, '{"error":{"resets_in_seconds":590000}}', 590_000_000],
    ['resets_at in epoch seconds', {}, `{"resets_at":${NOW / 1000 + 120}}`, 120_000],
    ['text: retry in 26.66s', {}, '{"error":{"message":"Please retry in 26.66s."}}', 26_660],
    ['text: Resets in 164h27m24s', {}, '{"error":"Resets in 164h27m24s"}', 592_044_000],
    ['text: try again in 20 seconds', {}, 'Rate limited, try again in 20 seconds', 20_000],
  ])('%s', (_name, headers, body, expected) => {
    expect(hint(headers as Record<string, string>, body)).toBe(expected)
  })

  it.each([
    ['nothing', {}, ''],
    ['negative', { 'retry-after': '-5' }, ''],
    ['garbage', { 'retry-after': 'soon' }, ''],
    ['NaN', { 'retry-after-ms': 'NaN' }, ''],
    ['over 31 days', { 'retry-after': String(32 * 86_400) }, ''],
    ['a bucket that is not empty', { 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '6m0s' }, ''],
    ['Azure’s -1', { 'x-ratelimit-remaining-requests': '-1', 'x-ratelimit-reset-requests': '0' }, ''],
  ])('%s is no hint', (_name, headers, body) => {
    expect(hint(headers as Record<string, string>, body)).toBeNull()
  })

  it('26 seconds are not midnight, and 6.8 days are not 5 seconds', () => {
    expect(hint({}, '{"error":{"message":"Quota exceeded. Please retry in 26s.","details":[{"retryDelay":"26s"}]}}')).toBe(26_000)
    expect(hint({}, '{"error":{"message":"Usage limit. Resets in 164h"}}')).toBe(590_400_000)
  })

  it('reads durations of every usual form', () => {
    expect(['120ms', '1s', '6m0s', '1h2m3s', '2d', '3', '1.5s'].map(durationMs)).toEqual([
      120, 1000, 360_000, 3_723_000, 172_800_000, 3000, 1500,
    ])
    expect(['', 'x', '5 apples', '1x2s'].map(durationMs)).toEqual([null, null, null, null])
  })
})
