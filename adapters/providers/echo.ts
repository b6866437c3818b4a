// The provider `echo`: no network, no key, always the same answer to the same request. It demonstrates every dialect to new users and
// serves tests. `echo/echo-1` repeats the last user text and calls the first tool on request.
import { estimateRequest, estimateText } from '../../core/models/token-estimate.ts'
import type { Provider } from '../../core/types/ports/provider.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen, Part } from '../../core/types/request/canonical.ts'
import type { CodecContext } from '../../core/types/request/dialect.ts'
import type { Emit, StreamSource } from '../../core/types/request/stream.ts'

export const echo: Provider = {
  id: 'echo',
  aliases: [],
  baseUrl: null,
  dialects: { chat: '', messages: '', responses: '', generate_content: '' },
  quirks: {},
  needsKey: false,
  forTrial: true,
  caps: () => ({ family: 'echo', context: 128_000, maxOutput: 8192, visionIn: true, pdfIn: true }),
  dialectFor: (_request, caller) => caller,
  authorize() {},
  answer(request, codec) {
    const response = answerOf(request, codec)
    return request.stream ? { kind: 'stream', source: wordByWord(response) } : { kind: 'full', response }
  },
}

function answerOf(request: Frozen<CanonicalRequest>, codec: CodecContext): CanonicalResponse {
  const text = lastUserText(request)
  const call = toolCall(request, text, codec)
  const parts: Part[] = call === null ? [{ t: 'text', text: text || 'Hello from echo.' }] : [call]
  const output = parts.reduce(
    (sum, part) => sum + estimateText(part.t === 'text' ? part.text : part.t === 'tool_call' ? part.name + part.args : ''),
    0,
  )
  const inputTotal = estimateRequest(request)
  const outputTotal = Math.max(1, Math.ceil(output))
  return {
    id: codec.id('echo_'),
    created: Math.floor(codec.now() / 1000),
    model: codec.model,
    choices: [{ index: 0, parts, finish: call === null ? 'stop' : 'tool_calls', nativeFinish: 'stop' }],
    usage: { inputTotal, cacheRead: 0, cacheWrite: 0, outputTotal, total: inputTotal + outputTotal, estimated: false, raw: null },
    ext: {},
  }
}

function lastUserText(request: Frozen<CanonicalRequest>): string {
  const turn = request.messages.findLast((message) => message.role === 'user')
  return (turn?.parts ?? []).map((part) => (part.t === 'text' ? part.text : '')).join('')
}

/** Makes a call for `tool_choice` required, a named tool, or the words "call <tool>", but never a second one after its result. */
function toolCall(request: Frozen<CanonicalRequest>, text: string, codec: CodecContext): Part | null {
  const tools = request.tools.filter((tool) => tool.t === 'function')
  if (tools.length === 0 || request.messages.at(-1)?.role === 'tool') return null
  const { toolChoice } = request
  const named = toolChoice?.mode === 'tool' ? toolChoice.name : /\bcall ([A-Za-z0-9_.-]+)/.exec(text)?.[1]
  const tool = tools.find(({ name }) => name === named) ?? (toolChoice?.mode === 'required' ? tools[0] : undefined)
  if (tool === undefined) return null
  return { t: 'tool_call', id: codec.id('call_'), idMinted: true, name: tool.name, args: '{}', kind: 'function' }
}

/** Streams a text word by word, so that a client sees a stream. */
function wordByWord(response: CanonicalResponse): StreamSource {
  const [choice] = response.choices as [CanonicalResponse['choices'][number]]
  const [part] = choice.parts as [Part]
  const facts = { content: true, contentBytes: 0, terminal: true, usage: response.usage, finish: choice.finish, error: null }
  const events = (emit: Emit): void => {
    emit({ e: 'start', id: response.id, model: response.model, created: response.created })
    if (part.t === 'text') {
      emit({ e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} })
      for (const text of part.text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []) emit({ e: 'delta', choice: 0, part: 0, d: { text } })
    } else if (part.t === 'tool_call') {
      const { id, name, kind } = part
      emit({ e: 'part_start', choice: 0, part: 0, kind: 'tool_call', meta: { id, name, kind, idMinted: true } })
      emit({ e: 'delta', choice: 0, part: 0, d: { args: part.args } })
    }
    emit({ e: 'part_stop', choice: 0, part: 0, full: part })
    emit({ e: 'finish', choice: 0, finish: choice.finish, native: 'stop' })
    emit({ e: 'usage', usage: response.usage })
    emit({ e: 'end' })
  }
  return {
    lane: 'events',
    facts,
    async pump(sink) {
      events((event) => sink.event(event))
      await sink.ready()
    },
    cancel() {},
  }
}
