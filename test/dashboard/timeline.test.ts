// The attempts of a request on one time axis.
import { describe, expect, it } from 'vitest'
import { type Attempt, timelineOf } from '../../dashboard/pages/requests/timeline.ts'

const START = Date.parse('2027-01-31T12:00:00.000Z')

function attempt(n: number, after: number, changes: Partial<Attempt>): Attempt {
  return {
    n,
    role: null,
    provider: 'openai',
    connection_id: '1',
    model: 'gpt-4o',
    started_at: new Date(START + after).toISOString(),
    latency_ms: 100,
    ttft_ms: null,
    waited_ms: null,
    wire_format: 'chat',
    lane: 'events',
    cause: null,
    status: 200,
    error: null,
    action: 'returned',
    skipped: null,
    tokens: null,
    cost_usd: null,
    ...changes,
  }
}

const failed = (action: string) => ({ status: 503, action, error: { code: 'overloaded', message: 'busy' }, cause: 'status' })

const timeline = (latency_ms: number, attempts: Attempt[]) =>
  timelineOf({ created_at: new Date(START).toISOString(), latency_ms, attempts })

describe('the timeline of a request', () => {
  it('shows the gateway wherever no attempt runs, and the first content of a stream', () => {
    const { gateway, gatewayMs, lines } = timeline(1000, [
      attempt(1, 10, failed('next_target')),
      attempt(2, 150, { provider: 'azure', ttft_ms: 300, latency_ms: 300 }),
    ])
    expect(gateway).toEqual([
      { kind: 'gateway', from: 0, to: 10 },
      { kind: 'gateway', from: 110, to: 150 },
    ])
    expect(gatewayMs).toBe(50)
    expect(lines[0]).toMatchObject({ spans: [{ kind: 'open', from: 10, to: 110 }], caps: [110], ticks: [] })
    expect(lines[1]).toMatchObject({
      spans: [
        { kind: 'open', from: 150, to: 450 },
        { kind: 'arrives', from: 450, to: 1000 },
      ],
      caps: [],
      ticks: [450],
    })
  })

  it('hatches the time that the request waited for the account', () => {
    const { lines } = timeline(500, [attempt(1, 0, { ...failed('retried'), waited_ms: 200 }), attempt(2, 300, {})])
    expect(lines[0]?.spans).toEqual([
      { kind: 'open', from: 0, to: 100 },
      { kind: 'waited', from: 100, to: 300 },
    ])
    expect(lines[0]?.verdict).toBe('overloaded → retried, waited 200 ms')
  })

  it('folds equal neighbours, and keeps those that differ apart', () => {
    const { lines } = timeline(900, [
      attempt(1, 0, failed('retried')),
      attempt(2, 100, failed('retried')),
      attempt(3, 200, failed('next_account')),
      attempt(4, 300, { ...failed('next_account'), connection_id: '2' }),
      attempt(5, 400, {}),
    ])
    expect(lines.map(({ attempts }) => attempts.map(({ n }) => n))).toEqual([[1, 2, 3], [4], [5]])
    expect(lines[0]?.caps).toEqual([100, 200, 300])
    expect(lines.map(({ verdict }) => verdict)).toEqual(['overloaded → next account', 'overloaded → next account', 'returned'])
  })

  it('says of the last failure that nothing was left to try', () => {
    expect(timeline(100, [attempt(1, 0, failed('next_target'))]).lines[0]?.verdict).toBe('overloaded → no target was left')
  })

  it('puts skipped candidates apart from those that were asked', () => {
    const { skipped, lines } = timeline(100, [
      attempt(1, 0, { skipped: { reason: 'circuit_open', until: null }, latency_ms: null, status: null, action: 'skipped' }),
      attempt(2, 0, {}),
    ])
    expect(skipped.map(({ n }) => n)).toEqual([1])
    // It was the first try, though the log counts the skipped candidate.
    expect(lines.map(({ number }) => number)).toEqual([1])
    expect(lines).toHaveLength(1)
  })

  it('has a length where the log has no time at all', () => {
    expect(timeline(0, [attempt(1, 0, { latency_ms: null })])).toMatchObject({
      whole: 1,
      lines: [{ spans: [{ from: 0, to: 0 }] }],
    })
  })
})
