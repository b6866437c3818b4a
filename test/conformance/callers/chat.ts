// The `openai` SDK on /v1/chat/completions. Streams are read twice: by the SDK's helper, and chunk by chunk, as agents do that need the
// members which the helper drops (reasoning_content).
import OpenAI, { APIError } from 'openai'
import type { Answer, Ask, Piece, Turn } from '../neutral.ts'
import { list, member, type Wire } from '../readers/wire.ts'
import { type Caller, observe, recordingFetch, type Told } from './caller.ts'

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming

export function chatCaller(url: string): Caller {
  return {
    dialect: 'chat',
    async send(model, ask, stream) {
      const recording = recordingFetch()
      const client = new OpenAI({ apiKey: 'sk-client', baseURL: `${url}/v1`, maxRetries: 0, fetch: recording.fetch })
      const params = request(model, ask)
      const call = () => (stream ? streamed(client, params) : whole(client, params))
      return observe(recording, call, (thrown): thrown is APIError => thrown instanceof APIError)
    },
  }
}

async function whole(client: OpenAI, params: Params): Promise<Told> {
  const completion = await client.chat.completions.create(params)
  const choice = completion.choices[0]!
  return {
    id: completion.id,
    answer: answer(completion, choice.message as unknown as Wire),
    native: choice.message,
    deltas: 0,
  }
}

async function streamed(client: OpenAI, params: Params): Promise<Told> {
  const runner = client.chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } })
  const message: Wire = { role: 'assistant', content: null }
  const calls: Wire[] = []
  let deltas = 0
  for await (const chunk of runner) {
    const delta = (chunk.choices[0]?.delta ?? {}) as Wire
    if (delta.content) deltas++
    for (const field of ['content', 'reasoning_content', 'refusal'])
      if (typeof delta[field] === 'string' && delta[field] !== '') message[field] = `${message[field] ?? ''}${delta[field]}`
    for (const { index, ...piece } of list(delta.tool_calls)) calls[index as number] = grown(calls[index as number], piece)
  }
  if (calls.length > 0) message.tool_calls = calls
  const final = await runner.finalChatCompletion()
  const choice = final.choices[0]!
  for (const field of ['content', 'refusal'] as const)
    if ((choice.message[field] || null) !== (message[field] ?? null))
      throw new Error(`The helper's ${field} differs from the chunks'.`)
  return { id: final.id, answer: answer(final, message), native: message, deltas }
}

function grown(call: Wire | undefined, piece: Wire): Wire {
  if (call === undefined) return piece
  const text = (from: Wire) => (member(from, 'function', 'arguments') ?? '') as string
  return { ...call, ...piece, function: { ...(call.function as Wire), arguments: text(call) + text(piece) } }
}

/** `message`: with the members that the helper drops. */
function answer(completion: OpenAI.ChatCompletion, message: Wire): Answer {
  const { usage } = completion
  const finish = completion.choices[0]!.finish_reason
  const refusal = (message.refusal ?? '') as string
  return {
    model: completion.model,
    text: (message.content ?? '') as string,
    thoughts: (message.reasoning_content ?? '') as string,
    refusal,
    calls: list(message.tool_calls).map((call) => ({
      id: call.id as string,
      name: member(call, 'function', 'name') as string,
      args: JSON.parse(member(call, 'function', 'arguments') as string) as unknown,
    })),
    finish: finish === 'stop' && refusal !== '' ? 'refusal' : finish,
    stopSequence: null,
    usage: {
      input: usage?.prompt_tokens ?? -1,
      cacheRead: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      cacheWrite: (member(usage, 'prompt_tokens_details', 'cache_write_tokens') ?? 0) as number,
      output: usage?.completion_tokens ?? -1,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

function request(model: string, ask: Ask): Params {
  return {
    model,
    messages: [
      ...(ask.system === '' ? [] : [{ role: 'system' as const, content: ask.system }]),
      ...(ask.turns.flatMap(messages) as unknown as OpenAI.ChatCompletionMessageParam[]),
    ],
    max_completion_tokens: ask.maxTokens,
    ...(ask.tools.length === 0
      ? {}
      : {
          tools: ask.tools.map(({ name, description, schema }) => ({
            type: 'function' as const,
            function: { name, description, parameters: schema as Record<string, unknown> },
          })),
        }),
    ...(ask.schema === null
      ? {}
      : {
          response_format: {
            type: 'json_schema' as const,
            json_schema: { name: 'answer', strict: true, schema: ask.schema as Record<string, unknown> },
          },
        }),
    ...(ask.stop.length === 0 ? {} : { stop: ask.stop }),
    ...(ask.effort === null ? {} : { reasoning_effort: ask.effort as 'medium' }),
  }
}

function messages(turn: Turn): object[] {
  if (turn.native !== undefined) return [turn.native as object]
  if (turn.role === 'assistant') {
    const calls = turn.pieces.filter((piece) => piece.t === 'call')
    return [
      {
        role: 'assistant',
        content: textOf(turn.pieces) || null,
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ id, name, args }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(args) },
              })),
            }),
      },
    ]
  }
  const results = turn.pieces.filter((piece) => piece.t === 'result')
  const rest = turn.pieces.filter((piece) => piece.t !== 'result')
  const plain = rest.every((piece) => piece.t === 'text')
  return [
    ...results.map(({ id, pieces }) => ({ role: 'tool', tool_call_id: id, content: textOf(pieces) })),
    ...(rest.length === 0 ? [] : [{ role: 'user', content: plain ? textOf(rest) : rest.map(part) }]),
  ]
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.t === 'text' ? piece.text : '')).join('')
}

function part(piece: Piece): object {
  switch (piece.t) {
    case 'text':
      return { type: 'text', text: piece.text }
    case 'image':
      return { type: 'image_url', image_url: { url: `data:${piece.mime};base64,${piece.data}` } }
    case 'image_url':
      return { type: 'image_url', image_url: { url: piece.url } }
    case 'pdf':
      return { type: 'file', file: { filename: piece.filename, file_data: `data:application/pdf;base64,${piece.data}` } }
    case 'file':
      return { type: 'file', file: { file_id: piece.id } }
    default:
      throw new Error(`A user message has no ${piece.t}.`)
  }
}
