// A whole answer as a stream: caches, local providers, and upstreams that answered JSON where a stream was asked.
import { replay } from '../stream/collect.ts'
import type { CanonicalResponse } from '../types/answer.ts'
import type { Frozen } from '../types/canonical.ts'
import type { StreamSource } from '../types/stream.ts'
import { answerFacts } from './answer-facts.ts'

/** Every event at once; back-pressure applies after the whole. */
export function replaySource(response: Frozen<CanonicalResponse>): StreamSource {
  const facts = answerFacts(response)
  return {
    lane: 'events',
    facts,
    async pump(sink) {
      replay(response, (event) => sink.event(event))
      await sink.ready()
    },
    cancel() {},
  }
}
