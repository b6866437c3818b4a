// A simulation of a draft: the script that it runs, and the comparison of two runs.
import { postText } from '../../api/post-text.ts'
import type { Draft } from './draft.ts'

export interface SimulatedAttempt {
  readonly connection: string
  readonly model: string
  readonly status: number | null
  readonly failure: string | null
  readonly skipped: string | null
}

export interface SimulatedRequest {
  readonly at_ms: number
  readonly attempts: readonly SimulatedAttempt[]
  readonly status: number
  readonly error: string | null
  readonly latency_ms: number
  readonly cost_usd: number | null
}

export interface Summary {
  readonly requests: number
  readonly succeeded: number
  readonly success_rate: number
  readonly upstream_calls: number
  readonly p95_ms: number
  readonly cost_usd: number
  readonly unpriced_requests: number
  readonly accounts: readonly { connection: string; calls: number }[]
}

export interface SimulationRun {
  readonly requests: readonly SimulatedRequest[]
  readonly summary: Summary
}

/** One JSON object a line: requests, and what upstreams answer from a time on. */
export function scriptOf({ name, count }: { name: string; count: number }, outages: readonly string[]): string {
  const lines = [
    { at: '0s', model: name, count, every: '1s' },
    ...outages.map((upstream) => ({ at: '0s', upstream, answer: { status: 503 } })),
  ]
  return lines.map((line) => JSON.stringify(line)).join('\n')
}

/** The script without its lines about upstreams: everything works. */
export function withoutOutages(script: string): string {
  return script
    .split('\n')
    .filter((line) => !/^\s*\{[^}]*"upstream"/.test(line))
    .join('\n')
}

/** @throws ApiError; its `param` names `script`, or a member of `draft` */
export async function runSimulation(script: string, draft: Draft): Promise<SimulationRun> {
  const text = await postText('/api/simulate', { script, draft: unbound(draft) })
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SimulatedRequest | { summary: Summary })
  const last = lines.at(-1) as { summary: Summary }
  return { requests: lines.slice(0, -1) as SimulatedRequest[], summary: last.summary }
}

/** The connections of the file have other ids in a simulation, so a target is tried with every connection. */
function unbound(draft: Draft): Draft {
  return {
    ...draft,
    name: draft.name === '' ? 'draft' : draft.name,
    targets: draft.targets.map((target) => (typeof target === 'string' ? target : { ...target, connection_id: null })),
  }
}

export function wayOf({ attempts, status }: SimulatedRequest): string {
  if (attempts.length === 0) return `no account, ${status}`
  return attempts
    .map(({ connection, status, skipped, failure }) => `${connection} ${skipped ?? failure ?? status ?? 'no answer'}`)
    .join(' → ')
}

/** Returns the index of the first request that went another way; −1: all went the same way. */
export function firstDifference(before: SimulationRun, after: SimulationRun): number {
  return after.requests.findIndex((request, at) => {
    const other = before.requests[at]
    return other === undefined || wayOf(other) !== wayOf(request)
  })
}
