// Builds the caller's answer from internal calls: sums their usage, streams it when the caller asked for a stream, and marks it so that
// hooks do not run twice.
import { transformed } from '../pipeline/staged-sink.ts'
import { replaySource } from '../pipeline/whole-answer.ts'
import type { CanonicalResponse, Usage } from '../types/request/answer.ts'
import type { Frozen } from '../types/request/canonical.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent, StreamFacts, StreamSink, StreamSource, StreamTransform } from '../types/request/stream.ts'

const COUNTERS = [
  'inputTotal',
  'cacheRead',
  'cacheWrite',
  'cacheWrite5m',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'toolUsePrompt',
  'outputTotal',
  'reasoning',
  'outputAudio',
  'acceptedPrediction',
  'rejectedPrediction',
] as const

/** Returns `usage` plus the counters of `more`; `raw` is that of `usage`. */
export function addedUsage(usage: Usage, more: Usage): Usage {
  const sum = { ...usage, ...counted(usage, more), estimated: usage.estimated || more.estimated }
  return { ...sum, total: sum.inputTotal + sum.outputTotal }
}

/** Returns the result of an internal call with the usage of other calls added. */
export function withUsage(result: Result, more: Usage): Result {
  if (result.kind !== 'full' && result.kind !== 'stream') return result
  const derived: Result =
    result.kind === 'full'
      ? { kind: 'full', response: { ...result.response, usage: addedUsage(result.response.usage as Usage, more) } }
      : { kind: 'stream', source: new AddingSource(result.source, more) }
  return marked(derived, result)
}

/** Returns a whole answer as a stream. */
export function asStream(result: Result): Result {
  if (result.kind !== 'full') return result
  return marked({ kind: 'stream', source: replaySource(result.response) }, result)
}

/**
 * Returns the result with a plugin's changes, if its hooks have run already. Otherwise returns it unchanged: the hooks `stream` and
 * `response` of the request still run.
 */
export function changedForCaller(
  result: Result,
  change: { stream(): StreamTransform; response(response: Frozen<CanonicalResponse>): Frozen<CanonicalResponse> },
): Result {
  if ((result.kind !== 'full' && result.kind !== 'stream') || !wasTransformed(result)) return result
  if (result.kind === 'full') return marked({ kind: 'full', response: change.response(result.response) }, result)
  return marked({ kind: 'stream', source: changedSource(result.source, change.stream()) }, result)
}

function changedSource(source: StreamSource, transform: StreamTransform): StreamSource {
  return {
    lane: source.lane,
    facts: source.facts,
    pump(sink) {
      const out = (event: StreamEvent): void => sink.event(event)
      return source.pump({
        event(event) {
          if (event.e === 'end') transform.flush?.(out)
          transform.event(event, out)
        },
        frame: (bytes) => sink.frame(bytes),
        ready: () => sink.ready(),
      })
    },
    cancel: (reason) => source.cancel(reason),
    ...(source.errorFrame ? { errorFrame: (error) => source.errorFrame?.(error) ?? '' } : {}),
  }
}

function wasTransformed(result: Result): boolean {
  return transformed.has(result) || (result.kind === 'stream' && transformed.has(result.source))
}

function marked(derived: Result, from: Result): Result {
  if (wasTransformed(from)) {
    transformed.add(derived)
    if (derived.kind === 'stream') transformed.add(derived.source)
  }
  return derived
}

function counted(usage: Partial<Usage>, more: Usage): Partial<Usage> {
  const sum: Partial<Usage> = {}
  for (const name of COUNTERS)
    if (usage[name] !== undefined || more[name] !== undefined) sum[name] = (usage[name] ?? 0) + (more[name] ?? 0)
  return sum
}

class AddingSource implements StreamSource {
  readonly lane: StreamSource['lane']
  readonly facts: StreamFacts
  readonly #source: StreamSource
  readonly #more: Usage

  constructor(source: StreamSource, more: Usage) {
    this.lane = source.lane
    this.facts = new AddingFacts(source.facts, more)
    this.#source = source
    this.#more = more
  }

  pump(sink: StreamSink): Promise<void> {
    return this.#source.pump({
      event: (event) => sink.event(this.#added(event)),
      frame: (bytes) => sink.frame(bytes),
      ready: () => sink.ready(),
    })
  }

  cancel(reason?: Parameters<StreamSource['cancel']>[0]): void {
    this.#source.cancel(reason)
  }

  #added(event: StreamEvent): StreamEvent {
    if ((event.e !== 'usage' && event.e !== 'start') || event.usage === undefined) return event
    const { total, ...counters } = event.usage
    const usage = { ...counters, ...counted(counters, this.#more) }
    return { ...event, usage: total === undefined ? usage : { ...usage, total: total + this.#more.total } }
  }
}

/** Stream facts with usage added. They wrap the call's own facts, because the call's settlement reads those. */
class AddingFacts implements StreamFacts {
  readonly #facts: StreamFacts
  readonly #more: Usage

  constructor(facts: StreamFacts, more: Usage) {
    this.#facts = facts
    this.#more = more
  }

  get content(): boolean {
    return this.#facts.content
  }
  get contentBytes(): number {
    return this.#facts.contentBytes
  }
  get terminal(): boolean {
    return this.#facts.terminal
  }
  get finish(): StreamFacts['finish'] {
    return this.#facts.finish
  }
  get usage(): Usage | null {
    const { usage } = this.#facts
    return usage === null ? null : addedUsage(usage, this.#more)
  }
  get error(): StreamFacts['error'] {
    return this.#facts.error
  }
  set error(error: StreamFacts['error']) {
    this.#facts.error = error
  }
}
