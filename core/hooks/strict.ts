// Strict mode for tests and development: freezes the answers and stream events that plugins get, so that an in-place write fails in both
// lanes.
import { deepFreeze } from '../collections/deep-freeze.ts'
import type { HookName } from '../types/plugin/hooks.ts'
import type { StreamTransform } from '../types/request/stream.ts'
import type { AnyHandler, Registration } from './registry.ts'
import { isThenable } from './returned.ts'

/** The value that a plugin must return instead, by hook. */
const INSTEAD: Partial<Record<HookName, string>> = {
  response: 'Return a changed copy of the answer',
  'stream:batch': 'Return a new list with changed copies of the events',
  stream: 'Emit a changed copy of the event',
}

/** Returns the registration with frozen arguments, for hooks that get answers. */
export function strict(entry: Registration): Registration {
  const instead = INSTEAD[entry.hook]
  if (instead === undefined) return entry
  const explained = (thrown: unknown): unknown => (isFrozenWrite(thrown) ? written(entry, instead, thrown) : thrown)
  const fn = entry.hook === 'stream' ? withFrozenEvents(entry.fn, explained) : withFrozenValue(entry.fn, explained)
  return { ...entry, fn }
}

function withFrozenValue(fn: AnyHandler, explained: (thrown: unknown) => unknown): AnyHandler {
  return (...args) => {
    deepFreeze(args[1])
    return guarded(() => fn(...args), explained)
  }
}

function withFrozenEvents(fn: AnyHandler, explained: (thrown: unknown) => unknown): AnyHandler {
  return (...args) => {
    const transform = fn(...args) as StreamTransform | undefined
    // The guard reports a value that is not a transform.
    if (typeof transform?.event !== 'function') return transform
    const { flush } = transform
    return {
      ...(transform.passive ? { passive: true as const } : {}),
      event: (event, emit) => guarded(() => transform.event(deepFreeze(event), emit), explained),
      ...(flush && { flush: (emit) => guarded(() => flush.call(transform, emit), explained) }),
    } satisfies StreamTransform
  }
}

function guarded<T>(run: () => T, explained: (thrown: unknown) => unknown): T {
  let returned: T
  try {
    returned = run()
  } catch (error) {
    throw explained(error)
  }
  if (!isThenable(returned)) return returned
  return returned.then(undefined, (error: unknown) => {
    throw explained(error)
  }) as T
}

/** V8, JavaScriptCore and SpiderMonkey have different messages for it. */
const FROZEN = /read.?only|not extensible|Cannot (?:add|delete|redefine) property|Unable to delete property|non-configurable/i

function isFrozenWrite(thrown: unknown): thrown is TypeError {
  return thrown instanceof TypeError && FROZEN.test(thrown.message)
}

function written({ plugin, hook }: Registration, instead: string, cause: TypeError): TypeError {
  const error = new TypeError(
    `The plugin \`${plugin}\` writes to what the hook \`${hook}\` gave it: ${cause.message}. ${instead}.`,
    { cause },
  )
  // Keep the line of the write.
  if (cause.stack !== undefined) error.stack = cause.stack.replace(cause.message, error.message)
  return error
}
