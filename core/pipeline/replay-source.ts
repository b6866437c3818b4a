// A whole answer as a stream: caches, local providers, and upstreams that answered JSON where a stream was asked.
import { replay } from '../lib/collect.ts'
import type { CanonicalResponse, Usage } from '../types/answer.ts'
import type { Frozen } from '../types/canonical.ts'
import type { StreamSource } from '../types/stream.ts'

/** Every event at once; back-pressure applies after the whole. */
export function replaySource(response: Frozen<CanonicalResponse>): StreamSource {
  const facts = {
    content: true,
    contentBytes: 0,
    terminal: true,
    usage: response.usage as Usage,
    finish: response.choices[0]?.finish ?? null,
    error: null,
  }
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
