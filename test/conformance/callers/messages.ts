// The `@anthropic-ai/sdk` on /v1/messages.
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import type { Answer, Ask, Piece, Turn } from '../neutral.ts'
import { type Caller, observe, recordingFetch, type Told } from './caller.ts'

type Params = Anthropic.MessageCreateParamsNonStreaming

const FINISH: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
}

export function messagesCaller(url: string): Caller {
  return {
    dialect: 'messages',
    async send(model, ask, stream) {
      const recording = recordingFetch()
      const client = new Anthropic({ apiKey: 'sk-client', baseURL: url, maxRetries: 0, fetch: recording.fetch })
      const params = request(model, ask)
      const call = () => (stream ? streamed(client, params) : whole(client, params))
      return observe(recording, call, (thrown): thrown is APIError => thrown instanceof APIError)
    },
  }
}

async function whole(client: Anthropic, params: Params): Promise<Told> {
  const message = await client.messages.create(params)
  return { id: message.id, answer: answer(message), native: message.content, deltas: 0 }
}

async function streamed(client: Anthropic, params: Params): Promise<Told> {
  const stream = client.messages.stream(params)
  let deltas = 0
  stream.on('text', () => deltas++)
  const message = await stream.finalMessage()
  return { id: message.id, answer: answer(message), native: message.content, deltas }
}

function answer(message: Anthropic.Message): Answer {
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const refused = message.stop_reason === 'refusal'
  if (refused && message.stop_details?.type !== 'refusal') throw new Error('A refusal without stop_details.')
  const { usage } = message
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  return {
    model: message.model,
    text: refused ? '' : text,
    thoughts: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    refusal: refused ? text : '',
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
    ),
    finish: FINISH[message.stop_reason ?? ''] ?? String(message.stop_reason),
    stopSequence: message.stop_sequence,
    usage: {
      input: usage.input_tokens + cacheRead + cacheWrite,
      cacheRead,
      cacheWrite,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}

function request(model: string, ask: Ask): Params {
  const format =
    ask.schema === null ? {} : { format: { type: 'json_schema' as const, schema: ask.schema as Record<string, unknown> } }
  const effort = ask.effort === null ? {} : { effort: ask.effort as 'medium' }
  const config = { ...effort, ...format }
  return {
    model,
    max_tokens: ask.maxTokens,
    ...(ask.system === '' ? {} : { system: ask.system }),
    messages: ask.turns.map(message),
    ...(ask.tools.length === 0
      ? {}
      : {
          tools: ask.tools.map(({ name, description, schema }) => ({
            name,
            description,
            input_schema: schema as Anthropic.Tool.InputSchema,
          })),
        }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(ask.effort === null ? {} : { thinking: { type: 'adaptive' as const, display: 'summarized' as const } }),
    ...(ask.stop.length === 0 ? {} : { stop_sequences: ask.stop }),
  }
}

function message(turn: Turn): Anthropic.MessageParam {
  if (turn.native !== undefined) return { role: 'assistant', content: turn.native as Anthropic.ContentBlockParam[] }
  const [only] = turn.pieces
  if (turn.pieces.length === 1 && only?.t === 'text') return { role: turn.role, content: only.text }
  return { role: turn.role, content: turn.pieces.map(block) as Anthropic.ContentBlockParam[] }
}

function block(piece: Piece): object {
  switch (piece.t) {
    case 'text':
      return { type: 'text', text: piece.text }
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: piece.mime, data: piece.data } }
    case 'image_url':
      return { type: 'image', source: { type: 'url', url: piece.url } }
    case 'pdf':
      return {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: piece.data },
        title: piece.filename,
      }
    case 'file':
      return { type: 'document', source: { type: 'file', file_id: piece.id } }
    case 'call':
      return { type: 'tool_use', id: piece.id, name: piece.name, input: piece.args }
    case 'result':
      return { type: 'tool_result', tool_use_id: piece.id, content: piece.pieces.map(block) }
    default:
      throw new Error(`A content block cannot be made up: ${piece.t}.`)
  }
}
