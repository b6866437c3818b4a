// Vendors' rate-limit headers, and the windows that they describe.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerBag } from '../../../core/http/headers.ts'
import { headerWindows } from '../../../plugins/quota/header-windows.ts'

const NOW = Date.UTC(2026, 0, 1)
const H = 3_600_000
const windows = (headers: Record<string, string>, model = 'm') =>
  headerWindows(headerBag(Object.entries(headers).flat()), model, NOW)

describe('the windows of an answer', () => {
  it('of the OpenAI family are the model’s', () => {
    expect(
      windows({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
        'X-RateLimit-Limit-Tokens': '150000',
        'x-ratelimit-remaining-tokens': '149984',
        'x-ratelimit-reset-tokens': '6m0s',
        'content-type': 'application/json',
      }),
    ).toEqual([
      {
        name: 'requests',
        unit: 'requests',
        model: 'm',
        used: 1,
        limit: 60,
        remaining: 59,
        resetsAt: NOW + 1000,
        exhausted: false,
      },
      {
        name: 'tokens',
        unit: 'tokens',
        model: 'm',
        used: 16,
        limit: 150_000,
        remaining: 149_984,
        resetsAt: NOW + 360_000,
        exhausted: false,
      },
    ])
  })

  it('without a name are the key’s, with a reset in whatever form it comes', () => {
    for (const [reset, at] of [
      ['30', NOW + 30_000],
      [String(NOW / 1000 + 90), NOW + 90_000],
      [String(NOW + 90_000), NOW + 90_000],
      [new Date(NOW + 5000).toISOString(), NOW + 5000],
      ['soon', null],
      ['-5', null],
      [String(NOW - 1000), null],
      ['1e99', null],
    ] as const)
      expect(windows({ 'ratelimit-remaining': '1', 'ratelimit-reset': reset }), reset).toEqual([
        {
          name: 'requests',
          unit: 'requests',
          model: null,
          used: null,
          limit: null,
          remaining: 1,
          resetsAt: at,
          exhausted: false,
        },
      ])
  })

  it('are exhausted when nothing is left for longer than a rate limit lasts', () => {
    const left = (remaining: string, reset: string) =>
      windows({ 'x-ratelimit-remaining-requests-day': remaining, 'x-ratelimit-reset-requests-day': reset })[0]?.exhausted
    expect(left('0', '2h')).toBe(true)
    expect(left('0', '59m')).toBe(false)
    expect(left('1', '2h')).toBe(false)
    expect(left('0', 'unknown')).toBe(false)
    // Azure's value for "unknown".
    expect(left('-1', '2h')).toBeUndefined()
  })

  it('of an Anthropic key are the model’s, with dates', () => {
    const [window] = windows({
      'anthropic-ratelimit-input-tokens-limit': '40000',
      'anthropic-ratelimit-input-tokens-remaining': '10000',
      'anthropic-ratelimit-input-tokens-reset': new Date(NOW + 60_000).toISOString(),
    })
    expect(window).toEqual({
      name: 'input-tokens',
      unit: 'tokens',
      model: 'm',
      used: 30_000,
      limit: 40_000,
      remaining: 10_000,
      resetsAt: NOW + 60_000,
      exhausted: false,
    })
  })
})

describe('the unified windows of a subscription', () => {
  const unified = (more: Record<string, string>) =>
    windows(Object.fromEntries(Object.entries(more).map(([name, value]) => [`anthropic-ratelimit-unified${name}`, value])))
  const reset = String((NOW + 3 * H) / 1000)

  it('are shares of the account, those of a family of models for these', () => {
    expect(
      unified({
        '-status': 'allowed',
        '-reset': reset,
        '-5h-status': 'allowed',
        '-5h-utilization': '0.42',
        '-5h-reset': reset,
        '-7d_opus-utilization': '0.9',
        '-representative-claim': 'five_hour',
      }),
    ).toEqual([
      { name: '5h', unit: 'percent', model: null, used: 42, limit: 100, remaining: 58, resetsAt: NOW + 3 * H, exhausted: false },
      {
        name: '7d_opus',
        unit: 'percent',
        model: '*opus*',
        used: 90,
        limit: 100,
        remaining: 10,
        resetsAt: null,
        exhausted: false,
      },
    ])
  })

  it('that are full refuse, unless the account goes on all the same', () => {
    const full = { '-5h-utilization': '1.04', '-5h-reset': reset }
    const exhausted = (more: Record<string, string>) => unified(more).filter((window) => window.exhausted)
    expect(exhausted(full)).toMatchObject([{ name: '5h', used: 104, remaining: 0 }])
    expect(exhausted({ ...full, '-status': 'rejected' })).toMatchObject([{ name: '5h' }])
    expect(exhausted({ ...full, '-status': 'allowed' })).toEqual([])
    expect(exhausted({ '-5h-utilization': '0.2', '-status': 'rejected', '-reset': reset })).toMatchObject([
      { name: 'unified', model: null, resetsAt: NOW + 3 * H },
    ])
    expect(exhausted({ '-7d_opus-utilization': '1', '-7d_opus-status': 'rejected', '-status': 'rejected' })).toMatchObject([
      { name: '7d_opus', model: '*opus*' },
    ])
  })
})

it('whatever an upstream sends, there are few windows and their figures are figures', () => {
  const name = fc.oneof(
    fc
      .constantFrom('x-ratelimit-limit-', 'x-ratelimit-remaining-', 'ratelimit-reset-', 'anthropic-ratelimit-unified-')
      .chain((stem) => fc.string({ maxLength: 12 }).map((rest) => stem + rest)),
    fc
      .constantFrom('5h', 'requests', 'tokens-day')
      .chain((window) =>
        fc
          .constantFrom('limit', 'remaining', 'reset', 'status', 'utilization')
          .map((what) => `anthropic-ratelimit-${window}-${what}`),
      ),
    fc.string(),
  )
  const value = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.bigInt().map(String),
    fc.constantFrom('0', '1', '6m', 'rejected'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 60 }), (pairs) => {
      const found = headerWindows(headerBag(pairs.flat()), 'm', NOW)
      expect(found.length).toBeLessThanOrEqual(20)
      for (const window of found) {
        for (const figure of [window.used, window.limit, window.remaining])
          if (figure !== null) expect(figure).toBeGreaterThanOrEqual(0)
        if (window.resetsAt !== null) expect(window.resetsAt - NOW).toBeLessThanOrEqual(31 * 24 * H)
      }
    }),
    { seed: 5, numRuns: 500 },
  )
})
