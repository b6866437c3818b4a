// Derives the calls of a filter from a recording, and describes each decision in a few words.
import { acceptRequest, acceptResponse } from '../../../plugins/wasm-filters/acceptance.ts'
import { FilterFailure } from '../../../plugins/wasm-filters/failure.ts'
import type { Filter, Seat } from '../../../plugins/wasm-filters/filter.ts'
import { streamShape } from '../../../plugins/wasm-filters/stream-shape.ts'
import type { Recording } from './recording.ts'

export interface Tried {
  action: string
  changes: string
}

export const UNCHANGED: Tried = { action: 'continue', changes: '' }

export interface Attempt {
  hook: 'on_request' | 'on_response' | 'on_chunk'
  attempt(seat: Seat): AsyncIterable<Tried | FilterFailure>
}

// Number of changed paths in a description.
const SHOWN = 3
const LENGTH = 40

/** Returns the paths whose values differ, each with both values; at most three. '' when nothing differs. */
function changesBetween(before: unknown, after: unknown): string {
  const changes: string[] = []
  compare(before, after, '', changes)
  const more = changes.length > SHOWN ? `, and ${changes.length - SHOWN} more` : ''
  return changes.slice(0, SHOWN).join('; ') + more
}

function compare(before: unknown, after: unknown, path: string, changes: string[]): void {
  if (Object.is(before, after)) return
  if (!isObject(before) || !isObject(after)) {
    changes.push(`${path || 'all'}: ${short(before)} → ${short(after)}`)
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(before[key], after[key], path === '' ? key : `${path}.${key}`, changes)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function short(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
}

/** Returns the filter's hook calls on a recording, in order. */
export function attemptsOf(filter: Filter, recording: Recording): Attempt[] {
  const { headers: sent, request, response, events } = recording
  const base = { abi: 1, ctx: contextOf(recording) }
  const headers = Object.fromEntries(Object.entries(sent).filter(([name]) => filter.headers.includes(name)))
  const attempts: Attempt[] = []
  if (filter.hooks.has('request'))
    attempts.push({
      hook: 'on_request',
      async *attempt(seat) {
        yield caught(async () => {
          const made = await filter.onRequest(seat, { ...base, headers, request }, (decision) => {
            if (decision.action === 'replace') acceptRequest(request, decision.request)
          })
          if (made.action === 'deny') return denial(made)
          if (made.action === 'respond') return { action: 'respond', changes: textOf(made.response) }
          return made.action === 'replace' ? { action: 'replace', changes: changesBetween(request, made.request) } : UNCHANGED
        })
      },
    })
  if (filter.hooks.has('response') && response !== undefined)
    attempts.push({
      hook: 'on_response',
      async *attempt(seat) {
        yield caught(async () => {
          const made = await filter.onResponse(seat, { ...base, response }, (decision) => {
            if (decision.action === 'replace') acceptResponse(response, decision.response)
          })
          if (made.action === 'deny') return denial(made)
          return made.action === 'replace' ? { action: 'replace', changes: changesBetween(response, made.response) } : UNCHANGED
        })
      },
    })
  if (filter.hooks.has('chunk') && events !== undefined)
    attempts.push({
      hook: 'on_chunk',
      async *attempt(seat) {
        const shape = streamShape()
        const ctx = { ...base.ctx, stream: true }
        for (const [seq, batch] of events.entries())
          yield caught(async () => {
            const made = await filter.onChunk(
              seat,
              { abi: 1, ctx, seq, last: seq === events.length - 1, events: batch },
              (decision) => {
                if (decision.action === 'replace') shape.replaced(batch, decision.events)
                else shape.passed(batch)
              },
            )
            if (made.action === 'deny') return denial(made)
            return made.action === 'replace' ? { action: 'replace', changes: changesBetween(batch, made.events) } : UNCHANGED
          })
      },
    })
  return attempts
}

async function caught(run: () => Promise<Tried>): Promise<Tried | FilterFailure> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof FilterFailure) return error
    throw error
  }
}

function denial({ status, message, code }: { status: number; message: string; code?: string }): Tried {
  return { action: 'deny', changes: `${Math.min(Math.max(status, 400), 499)} ${code ?? 'filter_denied'}: ${message}` }
}

function textOf({ choices }: { choices: readonly { parts: readonly { t: string; text?: unknown }[] }[] }): string {
  return JSON.stringify(choices[0]?.parts.find(({ t }) => t === 'text')?.text ?? '')
}

export function contextOf({ name, request }: Recording) {
  const { source: dialect, model, stream } = request
  const nobody = { key_id: null, key_label: null, org_id: null }
  return { request_id: `req_test_${name}`, parent_id: null, operation: 'chat', dialect, model, ...nobody, stream }
}
