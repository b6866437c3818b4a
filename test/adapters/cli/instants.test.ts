// Times in flags: `--since 03:14` is today or yesterday, in the zone of the output.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { future, past } from '../../../adapters/cli/instants.ts'
import { localTime } from '../../../adapters/cli/output/figures.ts'
import { eventually } from '../node/support.ts'
import { besideServer } from './beside.ts'
import { hookgate } from './hookgate.ts'

const DAY_SECONDS = 86_400
/** January: no zone changes its clock on these days. */
const now = fc.integer({ min: Date.UTC(2027, 0, 6) / 1000, max: Date.UTC(2027, 0, 25) / 1000 }).map((seconds) => seconds * 1000)
const within = fc.integer({ min: 0, max: DAY_SECONDS - 1 })
const printed = (at: number): string => localTime(new Date(at).toISOString())
const iso = (at: number): string => new Date(at).toISOString()

describe('a spelling names its time', () => {
  it('the printed time of any second of the last day is that second, and of the next day for an end', () => {
    fc.assert(
      fc.property(now, within, (at, seconds) => {
        const earlier = at - seconds * 1000
        expect(past('since', printed(earlier).slice(11), at)).toBe(iso(earlier))
        const later = at + seconds * 1000
        expect(future('expires', printed(later).slice(11), at)).toBe(iso(later))
      }),
    )
  })

  it('without seconds it is the beginning of the minute, never in the future', () => {
    fc.assert(
      fc.property(now, fc.integer({ min: 0, max: DAY_SECONDS - 60 }), (at, seconds) => {
        const minute = Math.floor((at - seconds * 1000) / 60_000) * 60_000
        expect(past('since', printed(minute).slice(11, 16), at)).toBe(iso(minute))
      }),
    )
  })

  it('lengths, whole stamps with and without a zone, and RFC 3339', () => {
    const unit = fc.constantFrom(['m', 60], ['h', 3600], ['d', DAY_SECONDS], ['w', 7 * DAY_SECONDS] as const)
    fc.assert(
      fc.property(now, within, fc.integer({ min: 0, max: 999 }), unit, (at, seconds, amount, [name, length]) => {
        const ms = amount * Number(length) * 1000
        expect(past('since', `${amount}${name}`, at)).toBe(iso(at - ms))
        expect(future('expires', `${amount}${name}`, at)).toBe(iso(at + ms))
        const then = at - seconds * 1000
        for (const text of [printed(then), printed(then).replace(' ', 'T'), iso(then), iso(then).replace('.000Z', '+00:00')])
          expect(past('since', text, at), text).toBe(iso(then))
        expect(past('since', iso(then).slice(0, 10), at)).toBe(`${iso(then).slice(0, 10)}T00:00:00.000Z`)
      }),
    )
  })

  it('every other spelling is refused with the accepted forms', () => {
    const almost = fc.constantFrom(
      '24:00',
      '3:14',
      '03:60',
      '03:14:60',
      '0314',
      '03:14Z',
      '2027-02-30',
      '2027-13-01',
      '15',
      '-5m',
      '5s',
    )
    const any = fc.string().filter((text) => !/^\d+[mhdw]$|\d\d:\d\d|^\d{4}-\d\d-\d\d/.test(text))
    fc.assert(
      fc.property(fc.oneof(almost, any), (text) => {
        expect(() => past('since', text)).toThrow(/^`--since`: `[\s\S]*` is not a time\. Say `15m`.*`14:30:05`.*RFC 3339/)
      }),
    )
    for (const text of ['2027-01-31 (no comment)', '10000-01-01', '999999w'])
      expect(() => past('since', text)).toThrow(/is not a time/)
  })
})

describe('beside a server, in another zone', () => {
  const beside = besideServer()

  it('`logs --since` and `--until` read what the command prints', async () => {
    const { id, key } = await beside.key('clock')
    await beside.called(key)
    await eventually(async () => (await beside.json<{ data: object[] }>('logs', '--key', String(id))).data.length > 0)
    const zone = { ...beside.env, TZ: 'Asia/Kolkata' }
    const inZone = (ms: number): string =>
      new Date(Date.now() + ms).toLocaleTimeString('en-GB', { timeZone: 'Asia/Kolkata', hour12: false })
    const found = async (...flags: string[]): Promise<number> => {
      const { code, stdout, stderr } = await hookgate(['logs', '--json', ...flags], { cwd: beside.cwd, env: zone })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return (JSON.parse(stdout) as { data: object[] }).data.length
    }
    expect(await found('--since', inZone(-600_000))).toBeGreaterThan(0)
    expect(await found('--since', inZone(-600_000).slice(0, 5))).toBeGreaterThan(0)
    expect(await found('--until', inZone(-600_000))).toBe(0)
    // A time that is still to come was yesterday.
    expect(await found('--since', inZone(600_000))).toBeGreaterThan(0)
  })

  it('a key ends at the next such time', async () => {
    const made = await beside.json<{ expires_at: string }>('key', 'create', '--expires', '00:00')
    const left = Date.parse(made.expires_at) - Date.now()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(25 * 3_600_000)
  })

  it.each([
    ['logs', '--since', '3:14'],
    ['logs', '--until', '25:00'],
    ['key', 'create', '--expires', 'soon'],
    ['token', 'create', '--expires', 'soon'],
    ['budget', 'increase', '1', '--amount', '5', '--until', 'soon'],
    ['webhook', 'redeliver', 'ep_1', '--since', 'soon'],
  ])('%s %s … lists the accepted forms', async (...args) => {
    const { code, stderr } = await beside.cli(...args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is not a time\. Say 15m, 2h, 30d or 1w; a time of day 14:30/)])
  })
})
