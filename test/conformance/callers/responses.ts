// The `openai` SDK on /v1/responses.
import OpenAI, { APIError } from 'openai'
import type { Answer, Ask, Piece, Turn } from '../neutral.ts'
import { type Caller, observe, recordingFetch, type Told } from './caller.ts'

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming
type Answered = OpenAI.Responses.Response

export function responsesCaller(url: string): Caller {
  return {
    dialect: 'responses',
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
  const response = await client.responses.create(params)
  return { id: response.id, answer: answer(response), native: response.output, deltas: 0 }
}

async function streamed(client: OpenAI, params: Params): Promise<Told> {
  const stream = client.responses.stream({ ...params, stream: true } as Parameters<typeof client.responses.stream>[0])
  let deltas = 0
  let text = ''
  stream.on('response.output_text.delta', (event) => {
    deltas++
    text += event.delta
  })
  const response = (await stream.finalResponse()) as unknown as Answered
  const told = answer(response)
  if (text !== told.text) throw new Error('The text of the deltas differs from the final response.')
  return { id: response.id, answer: told, native: response.output, deltas }
}

function answer({ model, output, status, incomplete_details: incomplete, usage }: Answered): Answer {
  const contents = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const refusal = contents.map((content) => (content.type === 'refusal' ? content.refusal : '')).join('')
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }] : [],
  )
  const completed = refusal !== '' ? 'refusal' : calls.length > 0 ? 'tool_calls' : 'stop'
  const reason = incomplete?.reason === 'max_output_tokens' ? 'length' : String(incomplete?.reason)
  return {
    model,
    text: contents.map((content) => (content.type === 'output_text' ? content.text : '')).join(''),
    thoughts: output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : [])).join('\n\n'),
    refusal,
    calls,
    finish: status === 'completed' ? completed : status === 'incomplete' ? reason : String(status),
    stopSequence: null,
    usage: {
      input: usage?.input_tokens ?? -1,
      cacheRead: usage?.input_tokens_details.cached_tokens ?? -1,
      cacheWrite: usage?.input_tokens_details.cache_write_tokens ?? -1,
      output: usage?.output_tokens ?? -1,
      reasoning: usage?.output_tokens_details.reasoning_tokens ?? -1,
    },
  }
}

function request(model: string, ask: Ask): Params {
  return {
    model,
    input: ask.turns.flatMap(items) as OpenAI.Responses.ResponseInput,
    store: false,
    max_output_tokens: ask.maxTokens,
    ...(ask.system === '' ? {} : { instructions: ask.system }),
    ...(ask.tools.length === 0
      ? {}
      : {
          tools: ask.tools.map(({ name, description, schema }) => ({
            type: 'function' as const,
            name,
            description,
            parameters: schema as Record<string, unknown>,
            strict: false,
          })),
        }),
    ...(ask.schema === null
      ? {}
      : {
          text: {
            format: {
              type: 'json_schema' as const,
              name: 'answer',
              strict: true,
              schema: ask.schema as Record<string, unknown>,
            },
          },
        }),
    ...(ask.effort === null
      ? {}
      : { reasoning: { effort: ask.effort as 'medium', summary: 'auto' as const }, include: ['reasoning.encrypted_content'] }),
  } as Params
}

function items(turn: Turn): object[] {
  if (turn.native !== undefined) return turn.native as object[]
  const out: object[] = []
  const content: object[] = []
  for (const piece of turn.pieces) {
    if (piece.t === 'call') {
      const args = JSON.stringify(piece.args)
      out.push({ type: 'function_call', call_id: piece.id, name: piece.name, arguments: args })
    } else if (piece.t === 'result') {
      const [only] = piece.pieces
      const output = piece.pieces.length === 1 && only?.t === 'text' ? only.text : piece.pieces.map(part)
      out.push({ type: 'function_call_output', call_id: piece.id, output })
    } else
      content.push(
        turn.role === 'user' ? part(piece) : { type: 'output_text', text: (piece as { text: string }).text, annotations: [] },
      )
  }
  if (content.length === 0) return out
  const message = { type: 'message', role: turn.role, content }
  return turn.role === 'assistant' ? [message, ...out] : [...out, message]
}

function part(piece: Piece): object {
  switch (piece.t) {
    case 'text':
      return { type: 'input_text', text: piece.text }
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: `data:${piece.mime};base64,${piece.data}` }
    case 'image_url':
      return { type: 'input_image', detail: 'auto', image_url: piece.url }
    case 'pdf':
      return { type: 'input_file', filename: piece.filename, file_data: `data:application/pdf;base64,${piece.data}` }
    case 'file':
      return { type: 'input_file', file_id: piece.id }
    default:
      throw new Error(`A user message has no ${piece.t}.`)
  }
}
