// The weekly digest: weeks of a time zone, sent once.
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { sql } from '../../../core/db/sql.ts'
import { calendarOf } from '../../../core/timing/calendar.ts'
import { letterOf } from '../../../plugins/advisor/digest/letter.ts'
import { lastWeek, namedWeek } from '../../../plugins/advisor/digest/week.ts'
import { rendered } from '../../../plugins/mail/rendered.ts'
import { DAY, times, type World, world } from './support.ts'

let w: World | undefined
afterEach(() => w?.t.close())

/** The ISO week of a civil date, by counting Thursdays. */
function isoWeek(year: number, month: number, day: number): string {
  const date = new Date(Date.UTC(year, month, day))
  const thursday = new Date(date.getTime() + DAY * (3 - ((date.getUTCDay() + 6) % 7)))
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  return `${thursday.getUTCFullYear()}-W${String(Math.floor((thursday.getTime() - first) / DAY / 7) + 1).padStart(2, '0')}`
}

describe('a week', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Pacific/Auckland',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
    'Asia/Kolkata',
  ]

  it('has the name of ISO 8601 in every zone, and the name leads back to it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.date({ min: new Date('2015-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        (zone, at) => {
          const calendar = calendarOf(zone)
          const week = lastWeek(calendar, at.getTime())
          const local = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date(week.start + 1000))
          const [year, month, day] = local.split('-').map(Number) as [number, number, number]
          expect(new Date(Date.UTC(year, month - 1, day)).getUTCDay()).toBe(1)
          expect(week.name).toBe(isoWeek(year, month - 1, day))
          expect(week.end).toBeLessThanOrEqual(at.getTime())
          expect(namedWeek(calendar, week.name)).toEqual(week)
        },
      ),
    )
  })

  it.each([
    ['2026-W53', true],
    ['2025-W53', false],
    ['2020-W53', true],
    ['2027-W01', true],
  ])('%s exists: %s', (name, exists) => {
    expect(namedWeek(calendarOf('UTC'), name) !== null).toBe(exists)
  })

  it('has 167 or 169 hours when clocks change', () => {
    const calendar = calendarOf('Europe/Berlin')
    const hours = (name: string) => {
      const week = namedWeek(calendar, name)
      return week === null ? 0 : (week.end - week.start) / 3_600_000
    }
    expect([hours('2026-W13'), hours('2026-W43'), hours('2026-W44')]).toEqual([167, 169, 168])
  })
})

describe('the digest', () => {
  const endpoint = { url: 'https://example.com/hook', event_types: ['report.weekly_digest'] }

  async function events(site: World): Promise<{ type: string; data: Record<string, unknown> }[]> {
    const { body } = await site.api<{ data: { event_type: string; payload?: unknown; id: string }[] }>(
      'GET',
      '/api/webhooks/deliveries',
    )
    return body.data.filter(({ event_type }) => event_type === 'report.weekly_digest') as never
  }

  it('is sent once for a week with requests, over restarts, also when the gateway was down at the time', async () => {
    const db = await openDatabase('sqlite::memory:', '.')
    try {
      w = await world({ env: { MASTER_KEY: '00112233445566778899aabbccddeeff'.repeat(2) }, ports: { db } })
      await w.api('POST', '/api/webhooks/endpoints', endpoint)
      await times(3, () => w?.ask({ model: 'chat/cheap' }) ?? Promise.resolve())
      await w.t.untilCommitted(3)
      await w.clock.advance('6m')
      expect(await events(w)).toEqual([])
      // Wednesday; the week ends on Sunday.
      w.jump(5 * DAY)
      await w.clock.advance('6m')
      await w.clock.advance('6m')
      expect(await events(w)).toHaveLength(1)
      await w.t.close()
      w = await world({ env: { MASTER_KEY: '00112233445566778899aabbccddeeff'.repeat(2) }, ports: { db } })
      w.jump(5 * DAY)
      await w.clock.advance('12m')
      expect(await events(w)).toHaveLength(1)
      const weeks = await db.all(sql`SELECT week_start FROM advisor_digests`)
      expect(weeks).toContainEqual({ week_start: Date.UTC(2026, 10, 16) })
    } finally {
      await w?.t.close()
      w = undefined
      await db.close()
    }
  })

  it('is not sent for a week without requests', async () => {
    w = await world({ env: { MASTER_KEY: '00112233445566778899aabbccddeeff'.repeat(2) } })
    expect((await w.api('POST', '/api/webhooks/endpoints', endpoint)).status).toBe(201)
    w.jump(5 * DAY)
    await w.clock.advance('12m')
    expect(await events(w)).toEqual([])
  })

  it('is not sent of a week that ended more than seven days ago', async () => {
    w = await world({ env: { MASTER_KEY: '00112233445566778899aabbccddeeff'.repeat(2) } })
    await w.api('POST', '/api/webhooks/endpoints', endpoint)
    await w.ask({ model: 'chat/cheap' })
    await w.t.untilCommitted(1)
    w.jump(13 * DAY)
    await w.clock.advance('12m')
    expect(await events(w)).toEqual([])
  })

  it('has the same figures in a letter, and no markup or address of others', () => {
    const digest = {
      week: '2026-W47',
      periodStart: '2026-11-15T23:00:00.000Z',
      periodEnd: '2026-11-22T23:00:00.000Z',
      requests: 1204,
      costUsd: 12.5,
      usdSaved: 3.25,
      tokensSaved: 7000,
      opportunities: [
        {
          id: 'rec_1',
          kind: 'unused_key' as const,
          title: 'Revoke the key `<img src="https://evil.example/x.png">`',
          detail: '',
          estMonthlyUsd: 0,
          confidence: 0.9,
          evidence: {},
          applyAction: null,
          applyHint: 'hookgate key revoke 7',
        },
      ],
      headline: 'Week 2026-W47: 3.25 USD saved.',
    }
    const { subject, text, html } = rendered(
      { to: 'a@example.com', orgId: 1, kind: 'digest', ...letterOf(digest, 'Europe/Berlin') },
      null,
    )
    expect(subject).toBe(digest.headline)
    for (const figure of ['2026-11-16', '2026-11-22', 'Europe/Berlin', '1204', '12.50', '3.25', '7000', '90 %', 'revoke 7']) {
      expect(text).toContain(figure)
      expect(html).toContain(figure)
    }
    expect(html).not.toMatch(/<(?:img|script|link|iframe)|https?:\/\//i)
    expect(html).toContain('&lt;img src=&quot;')
  })

  it('can be read for any week', async () => {
    w = await world()
    await times(2, () => w?.ask({ model: 'chat/dear' }) ?? Promise.resolve())
    await w.t.untilCommitted(2)
    const { body } = await w.api('GET', '/api/advisor/digest?week=2026-W47')
    expect(body).toMatchObject({
      week: '2026-W47',
      period_start: '2026-11-16T00:00:00.000Z',
      period_end: '2026-11-23T00:00:00.000Z',
      requests: 2,
      total_usd_saved: 0,
      headline: 'Week 2026-W47: 0.00 USD saved.',
    })
    for (const week of ['2026-47', '2025-W53', '2026-W00'])
      expect(await w.api('GET', `/api/advisor/digest?week=${week}`)).toMatchObject({
        status: 400,
        body: { error: { param: 'week' } },
      })
  })
})
