// Writes answers of earlier requests again with the codec of the responses dialect. No upstream is called, and nothing is counted.
import { driver, type Runtime } from '../pipeline/runtime.ts'
import { replay } from '../stream/collect.ts'
import { concatBytes, decodeUtf8 } from '../text/bytes.ts'
import type { CanonicalResponse } from '../types/answer.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message } from '../types/canonical.ts'
import type { CodecContext } from '../types/dialect.ts'
import type { StoredAnswer, StoredAnswers } from '../types/stored-answer.ts'
import { noteStoredTurn } from './stored-turn.ts'

const DIALECT = 'responses'
const FRAME_END = '\n\n'

export function storedAnswers(runtime: Runtime): StoredAnswers {
  const codec = () => driver(runtime, DIALECT)
  /** As the caller's first answer: an operator may have chosen that answers carry the requested name. */
  const named = ({ request, response }: StoredAnswer): Frozen<CanonicalResponse> =>
    request.model !== '' && runtime.answersAsRequested(DIALECT) ? { ...response, model: request.model } : response

  return {
    whole: (answer) => codec().encodeResponse(named(answer), contextOf(answer)),
    frames(answer) {
      const encoder = codec().encodeStream(contextOf(answer))
      let text = ''
      replay(named(answer), (event) => {
        text += encoder.event(event)
      })
      // JSON has no line breaks.
      return text
        .split(FRAME_END)
        .filter((frame) => frame !== '')
        .map((frame) => frame + FRAME_END)
    },
    items(messages) {
      const request = requestOf(messages)
      const { body } = codec().encodeRequest(request, context(request, '', 0, 'item'))
      const { input } = JSON.parse(decodeUtf8(concatBytes(body.toBytes()))) as { input: JsonObject[] }
      return input
    },
  }
}

function contextOf({ request, response, previous, family, completedAt }: StoredAnswer): CodecContext {
  const codec = context(request, family, completedAt, response.id)
  noteStoredTurn(codec, { store: true, previous })
  return codec
}

/** `seed`: ids that the codec has to generate are the same at each reading. */
function context(request: Frozen<CanonicalRequest>, family: string, now: number, seed: string): CodecContext {
  let ids = 0
  return {
    provider: 'gateway',
    model: request.model,
    caller: DIALECT,
    upstream: DIALECT,
    operation: 'chat',
    caps: { family },
    quirks: {},
    requestId: '',
    stream: false,
    includeUsage: false,
    sse: true,
    names: new Map(),
    notes: new Map(),
    request,
    warn() {},
    now: () => now,
    id: (prefix) => `${prefix}${seed.slice(seed.indexOf('_') + 1)}${ids++}`,
  }
}

function requestOf(messages: readonly Message[]): Frozen<CanonicalRequest> {
  return {
    model: '',
    stream: false,
    source: DIALECT,
    system: [],
    messages,
    tools: [],
    sampling: {},
    // A result without its call is legal: the call is in an earlier turn.
    state: { previousResponseId: '' },
    headers: {},
    ext: {},
  }
}
