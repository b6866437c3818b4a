// Calendar windows: limits from local calendar fields, for any change of clocks.
import { describe, expect, it, vi } from 'vitest'
import type { CalendarPeriod as BudgetWindow } from '../../../core/timing/calendar.ts'
import { calendarOf } from '../../../core/timing/calendar.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Returns the limits as RFC 3339 and the length in hours. */
function shown(zone: string, kind: BudgetWindow, at: string): [string, string, number] {
  const { start, end } = calendarOf(zone).at(kind, Date.parse(at))
  if (end === null) throw new Error('It has no end.')
  return [new Date(start).toISOString().slice(0, 19), new Date(end).toISOString().slice(0, 19), (end - start) / HOUR]
}

describe('a day', () => {
  it.each([
    ['UTC', '2026-11-21T19:33:00Z', '2026-11-21T00:00:00', '2026-11-22T00:00:00', 24],
    // Spring: clocks are set forward.
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00', '2026-03-29T22:00:00', 23],
    ['America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00', '2026-03-09T04:00:00', 23],
    ['Australia/Lord_Howe', '2026-10-04T04:00:00Z', '2026-10-03T13:30:00', '2026-10-04T13:00:00', 23.5],
    // Autumn: they are set back.
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00', '2026-10-25T23:00:00', 25],
    ['America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00', '2026-11-02T05:00:00', 25],
    ['Australia/Lord_Howe', '2026-04-05T04:00:00Z', '2026-04-04T13:00:00', '2026-04-05T13:30:00', 24.5],
    // Midnight is missing: the day begins with the first existing instant.
    ['America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00:00', '2018-11-05T02:00:00', 23],
    ['Asia/Beirut', '2026-03-29T12:00:00Z', '2026-03-28T22:00:00', '2026-03-29T21:00:00', 23],
    // Midnight occurs twice: the earlier one applies.
    ['America/Havana', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00', '2026-11-02T05:00:00', 25],
    // The hour before midnight occurs twice.
    ['America/Sao_Paulo', '2018-02-18T02:30:00Z', '2018-02-17T02:00:00', '2018-02-18T03:00:00', 25],
    // A minute past midnight clocks go back into the day before, which has ended by then.
    ['America/Goose_Bay', '2006-10-29T03:30:00Z', '2006-10-29T03:00:00', '2006-10-30T04:00:00', 25],
    // A day that did not exist.
    ['Pacific/Apia', '2011-12-31T00:00:00Z', '2011-12-30T10:00:00', '2011-12-31T10:00:00', 24],
    // No change, and an offset of half an hour.
    ['Asia/Kolkata', '2026-06-01T00:00:00Z', '2026-05-31T18:30:00', '2026-06-01T18:30:00', 24],
  ])('in %s around %s is %s to %s: %d hours', (zone, at, start, end, hours) => {
    expect(shown(zone, 'daily', at)).toEqual([start, end, hours])
  })
})

describe('an hour, a week, a month, a year', () => {
  it.each<[BudgetWindow, string, string, string, string]>([
    ['hourly', 'UTC', '2026-11-21T19:33:07Z', '2026-11-21T19:00:00', '2026-11-21T20:00:00'],
    // The local clock, not UTC.
    ['hourly', 'Asia/Kolkata', '2026-11-21T19:33:00Z', '2026-11-21T19:30:00', '2026-11-21T20:30:00'],
    ['hourly', 'Asia/Kathmandu', '2026-11-21T19:33:00Z', '2026-11-21T19:15:00', '2026-11-21T20:15:00'],
    // An hour that clocks show twice is one window of two hours.
    ['hourly', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T00:00:00', '2026-10-25T02:00:00'],
    ['hourly', 'Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T00:00:00', '2026-03-29T01:00:00'],
    ['hourly', 'Europe/Berlin', '2026-03-29T01:30:00Z', '2026-03-29T01:00:00', '2026-03-29T02:00:00'],
    ['weekly', 'UTC', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00', '2026-11-30T00:00:00'],
    ['weekly', 'UTC', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00', '2026-11-23T00:00:00'],
    ['weekly', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-18T22:00:00', '2026-10-25T23:00:00'],
    ['monthly', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00', '2028-03-01T00:00:00'],
    ['monthly', 'America/New_York', '2026-12-01T04:59:59Z', '2026-11-01T04:00:00', '2026-12-01T05:00:00'],
    ['yearly', 'UTC', '2026-12-31T23:59:59Z', '2026-01-01T00:00:00', '2027-01-01T00:00:00'],
    ['yearly', 'Pacific/Auckland', '2026-12-31T11:00:00Z', '2026-12-31T11:00:00', '2027-12-31T11:00:00'],
    ['yearly', 'Asia/Kolkata', '2028-02-29T00:00:00Z', '2027-12-31T18:30:00', '2028-12-31T18:30:00'],
  ])('%s in %s at %s: %s to %s', (kind, zone, at, start, end) => {
    expect(shown(zone, kind, at).slice(0, 2)).toEqual([start, end])
  })
})

describe('windows of one kind', () => {
  const ZONES = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'America/Havana',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'America/Goose_Bay',
  ]
  it.each(ZONES)('follow each other without gap or overlap in %s, through leap day and year end', (zone) => {
    for (const [kind, from, until] of [
      ['hourly', '2006-10-27', '2006-10-31'],
      ['hourly', '2026-04-03', '2026-04-07'],
      ['hourly', '2026-10-30', '2026-11-03'],
      ['daily', '2006-01-01', '2008-03-02'],
      ['daily', '2027-12-01', '2028-12-31'],
      ['weekly', '2027-12-01', '2028-03-31'],
      ['monthly', '2027-06-01', '2029-02-01'],
      ['yearly', '2024-01-01', '2031-01-01'],
    ] as const) {
      const calendar = calendarOf(zone)
      let window = calendar.at(kind, Date.parse(`${from}T12:00:00Z`))
      while (window.start < Date.parse(`${until}T00:00:00Z`)) {
        const end = window.end as number
        expect(end).toBeGreaterThan(window.start)
        // Every instant of the window leads to it, also without cached windows.
        for (const at of [window.start, Math.floor((window.start + end) / 2), end - 1])
          expect(calendarOf(zone).at(kind, at)).toEqual(window)
        window = calendar.at(kind, end)
        expect(window.start).toBe(end)
      }
    }
  }, 60_000)

  it('has one that never ends: `lifetime`', () => {
    expect(calendarOf('Europe/Berlin').at('lifetime', 5 * DAY)).toEqual({ start: 0, end: null })
  })

  it('are in UTC where the zone is not known', () => {
    expect(calendarOf('Mars/Olympus_Mons').zone).toBe('UTC')
    expect(shown('Mars/Olympus_Mons', 'daily', '2026-11-21T19:33:00Z')).toEqual([
      '2026-11-21T00:00:00',
      '2026-11-22T00:00:00',
      24,
    ])
  })

  it('are computed once while they last', () => {
    const format = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
    const calendar = calendarOf('Europe/Berlin')
    const noon = Date.parse('2026-11-21T11:00:00Z')
    calendar.at('daily', noon)
    const asked = format.mock.calls.length
    expect(asked).toBeGreaterThan(0)
    for (let minute = 0; minute < 600; minute++) calendar.at('daily', noon + minute * 60_000)
    expect(format.mock.calls.length).toBe(asked)
    format.mockRestore()
  })
})
