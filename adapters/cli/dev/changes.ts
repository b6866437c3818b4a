// Says what a plugin's handler changed: compares what plugins can see of a request before and after it.

import type { HookRun } from '../../../core/types/plugin/hook-tracer.ts'
import type { EncodedCall, RequestContext } from '../../../core/types/request/context.ts'

/** JSON values, by name. */
export type Snapshot = Readonly<Record<string, unknown>>

/** Handlers of these hooks run before the body is read. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['ingress', 'authenticate', 'access'])
const MOST_SHOWN = 6
const MOST_TEXT = 48
const DEEPEST = 12

export function snapshot(ctx: RequestContext, hook: string, args: readonly unknown[]): Snapshot {
  const { virtualModel, costCenter, sessionId, userId, properties, notes, plan, cached, addedBytes, responseHeaders } = ctx
  const call = hook === 'prepare' || hook === 'encoded' ? (args[1] as EncodedCall) : null
  return copied({
    ...{ virtualModel, costCenter, sessionId, userId, properties, notes, cached, addedBytes },
    ...(hook === 'resolve' ? {} : { plan }),
    answerHeaders: Object.fromEntries(responseHeaders),
    ...(WITHOUT_BODY.has(hook) ? {} : { request: read(() => ctx.request) }),
    ...(hook === 'prepare' ? { call: read(() => call?.request) } : {}),
    ...(hook === 'encoded' ? { body: read(() => call?.body.json()), headers: Object.fromEntries(call?.headers ?? []) } : {}),
  })
}

/** Returns what one run did, in a few words each; empty: it changed nothing. */
export function changesOf(run: HookRun, after: Snapshot): string[] {
  const found = run.before === undefined ? [] : [...differences(run.before, after, '', 0)]
  const more = found.length > MOST_SHOWN ? [`and ${found.length - MOST_SHOWN} more`] : []
  return [...verdict(run), ...found.slice(0, MOST_SHOWN), ...more]
}

/** Returns what the handler returned, for hooks whose value counts. */
function verdict({ hook, returned, args }: HookRun): string[] {
  if (returned === undefined || returned === null) return []
  const value = returned as Readonly<Record<string, unknown>>
  if (hook === 'authenticate') return [value.keyId === null ? 'caller: anonymous' : `caller: key ${value.keyId} (${value.label})`]
  if (hook === 'resolve') return [`plan: ${targets(value.targets)}, ${value.strategy}`]
  if (hook === 'answer') return [`answered: ${value.kind}`]
  if (hook === 'response') return returned === args[1] ? [] : ['another answer']
  if (hook !== 'candidates') return []
  const [before, after] = [names(args[1]), names(returned)]
  return before === after ? [] : [`candidates: ${before} → ${after}`]
}

function targets(list: unknown): string {
  return (list as { provider: string; model: string }[]).map(({ provider, model }) => `${provider}/${model}`).join(', ')
}

function names(list: unknown): string {
  return (list as { target: { model: string }; connection: { id: string } }[])
    .map(({ target, connection }) => `${connection.id}/${target.model}`)
    .join(', ')
}

function* differences(before: unknown, after: unknown, path: string, depth: number): Generator<string> {
  if (Object.is(before, after)) return
  if (!isTree(before) || !isTree(after) || depth > DEEPEST) {
    if (JSON.stringify(before) === JSON.stringify(after)) return
    yield before === undefined || before === null
      ? `+${path}: ${short(after)}`
      : after === undefined || after === null
        ? `-${path}`
        : `${path}: ${short(before)} → ${short(after)}`
    return
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    yield* differences(before[name], after[name], path === '' ? name : `${path}.${name}`, depth + 1)
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}…` : text
}

/** Handlers change objects in place, so the values are copied. */
function copied(value: Snapshot): Snapshot {
  return JSON.parse(
    JSON.stringify(value, (_name, member: unknown) => (member instanceof Uint8Array ? `${member.length} bytes` : member)),
  )
}

/** A body that cannot be decoded fails where a plugin reads it, not here. */
function read<T>(get: () => T): T | null {
  try {
    return get()
  } catch {
    return null
  }
}
