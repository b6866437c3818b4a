// The `@google/genai` SDK on /v1beta/models/{model}:generateContent and :streamGenerateContent.
import {
  ApiError,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import type { Answer, Ask, Piece, Turn } from '../neutral.ts'
import { type Caller, observe, recordingFetch, type Told } from './caller.ts'

const FINISH: Readonly<Record<string, string>> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter' }

/** Names of calls by id, because a functionResponse needs them. */
type Names = Map<string, string>

export function generateContentCaller(url: string): Caller {
  return {
    dialect: 'generate_content',
    async send(model, ask, stream) {
      const recording = recordingFetch()
      const httpOptions = { baseUrl: url, retryOptions: { attempts: 1 }, fetch: recording.fetch }
      const client = new GoogleGenAI({ apiKey: 'sk-client', httpOptions } as ConstructorParameters<typeof GoogleGenAI>[0])
      const params = request(model, ask)
      const call = () => (stream ? streamed(client, params) : whole(client, params))
      return observe(recording, call, (thrown): thrown is ApiError => thrown instanceof ApiError)
    },
  }
}

async function whole(client: GoogleGenAI, params: GenerateContentParameters): Promise<Told> {
  const response = await client.models.generateContent(params)
  return told([response], 0)
}

async function streamed(client: GoogleGenAI, params: GenerateContentParameters): Promise<Told> {
  const chunks: GenerateContentResponse[] = []
  let deltas = 0
  for await (const chunk of await client.models.generateContentStream(params)) {
    chunks.push(chunk)
    if (chunk.text) deltas++
  }
  return told(chunks, deltas)
}

function told(chunks: readonly GenerateContentResponse[], deltas: number): Told {
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
  const usage = chunks.findLast((chunk) => chunk.usageMetadata !== undefined)?.usageMetadata
  const calls = parts.flatMap(({ functionCall: call }) =>
    call === undefined ? [] : [{ id: call.id ?? '', name: call.name ?? '', args: call.args as unknown }],
  )
  const reason = chunks.at(-1)?.candidates?.[0]?.finishReason ?? 'none'
  const finish = FINISH[reason] ?? reason
  const text = (thought: boolean) => parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? '') : '')).join('')
  const answer: Answer = {
    model: chunks.at(-1)?.modelVersion ?? '',
    text: text(false),
    thoughts: text(true),
    refusal: '',
    calls,
    finish: finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish,
    stopSequence: null,
    usage: {
      input: usage?.promptTokenCount ?? -1,
      cacheRead: usage?.cachedContentTokenCount ?? 0,
      cacheWrite: 0,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
      reasoning: usage?.thoughtsTokenCount ?? 0,
    },
  }
  return { id: chunks.at(-1)?.responseId ?? '', answer, native: { role: 'model', parts }, deltas }
}

function request(model: string, ask: Ask): GenerateContentParameters {
  const names: Names = new Map()
  for (const turn of ask.turns) for (const piece of turn.pieces) if (piece.t === 'call') names.set(piece.id, piece.name)
  return {
    model,
    contents: ask.turns.map((turn) => content(turn, names)),
    config: {
      maxOutputTokens: ask.maxTokens,
      ...(ask.system === '' ? {} : { systemInstruction: ask.system }),
      ...(ask.tools.length === 0
        ? {}
        : {
            tools: [
              {
                functionDeclarations: ask.tools.map(({ name, description, schema }) => ({
                  name,
                  description,
                  parametersJsonSchema: schema,
                })),
              },
            ],
          }),
      ...(ask.schema === null ? {} : { responseMimeType: 'application/json', responseJsonSchema: ask.schema }),
      ...(ask.stop.length === 0 ? {} : { stopSequences: ask.stop }),
      ...(ask.effort === null
        ? {}
        : { thinkingConfig: { includeThoughts: true, thinkingLevel: ask.effort.toUpperCase() as never } }),
    },
  }
}

function content(turn: Turn, names: Names): Content {
  if (turn.native !== undefined) return turn.native as Content
  return { role: turn.role === 'assistant' ? 'model' : 'user', parts: turn.pieces.map((piece) => part(piece, names)) }
}

function part(piece: Piece, names: Names): Part {
  switch (piece.t) {
    case 'text':
      return { text: piece.text }
    case 'image':
      return { inlineData: { mimeType: piece.mime, data: piece.data } }
    case 'image_url':
      return { fileData: { mimeType: 'image/png', fileUri: piece.url } }
    case 'pdf':
      return { inlineData: { mimeType: 'application/pdf', data: piece.data } }
    case 'file':
      return {
        fileData: {
          mimeType: 'application/pdf',
          fileUri: `https://generativelanguage.googleapis.com/v1beta/${piece.id}`,
        },
      }
    case 'call':
      return { functionCall: { id: piece.id, name: piece.name, args: piece.args as Record<string, unknown> } }
    case 'result': {
      const text = piece.pieces.map((inner) => (inner.t === 'text' ? inner.text : '')).join('')
      const media = piece.pieces.filter((inner) => inner.t === 'image')
      return {
        functionResponse: {
          id: piece.id,
          name: names.get(piece.id) ?? '',
          response: { output: text },
          ...(media.length === 0 ? {} : { parts: media.map(({ mime, data }) => ({ inlineData: { mimeType: mime, data } })) }),
        },
      }
    }
    default:
      throw new Error(`A content has no ${piece.t}.`)
  }
}
