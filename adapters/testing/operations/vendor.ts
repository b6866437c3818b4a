// Answers of the scripted upstream for operations other than chat, in each vendor's own wire format. Vectors, scores and texts depend on
// the input alone, so that a test can compute them.
import type { RecordedRequest, Step } from '../script.ts'
import { raw } from '../script.ts'
import { AUDIO_ANSWERS } from './audio.ts'
import { COMPLETION_ANSWERS } from './completions.ts'
import { IMAGE_ANSWERS } from './images.ts'
import { jinaPage, PAGE_ANSWERS } from './pages.ts'

type Json = Record<string, unknown>

/** Returns the vector that the scripted vendors give for a text. */
export function scriptedVector(input: unknown, dimensions = 4): number[] {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return Array.from({ length: dimensions }, (_, at) => Math.fround(((text.length + at) % 7) / 8))
}

function base64Of(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64')
}

/** For `choose`: answers a request to any of the vendors' paths; 404 for an unknown path. */
export function operationReply(request: RecordedRequest): Step {
  const path = request.path.replace(/\?.*$/, '')
  for (const [pattern, answer] of [...IMAGE_ANSWERS, ...AUDIO_ANSWERS, ...COMPLETION_ANSWERS])
    if (pattern.test(path)) return answer(request.json, request)
  for (const [pattern, answer] of ANSWERS) if (pattern.test(path)) return answered(answer(request.json, request))
  return answered({ error: { message: `no scripted answer for ${path}`, type: 'not_found' } }, 404)
}

/** Returns whether the path is one of an operation other than chat. */
export function isOperation({ path }: RecordedRequest): boolean {
  const plain = path.replace(/\?.*$/, '')
  return [...ANSWERS, ...IMAGE_ANSWERS, ...AUDIO_ANSWERS, ...COMPLETION_ANSWERS].some(([pattern]) => pattern.test(plain))
}

function answered(body: unknown, status = 200): Step {
  return raw(status, JSON.stringify(body), { contentType: 'application/json' })
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])
const isTokens = (value: unknown): boolean => Array.isArray(value) && typeof value[0] === 'number'

const ANSWERS: readonly (readonly [RegExp, (json: Json, request: RecordedRequest) => unknown])[] = [
  [/\/v2\/embed$/, cohereEmbed],
  [/:embedContent$/, ({ content }) => ({ embedding: { values: scriptedVector(partText(content)) } })],
  [
    /:batchEmbedContents$/,
    ({ requests }) => ({
      embeddings: list(requests).map((one) => ({ values: scriptedVector(partText((one as Json).content)) })),
    }),
  ],
  [/\/embeddings$/, openaiEmbed],
  [/\/rerank$/, rerank],
  [/\/moderations$/, moderate],
  [/\/ocr$/, ocr],
  [/\/responses\/compact$/, compacted],
  [/\/(?:search|customsearch\/v1)$/, search],
  ...PAGE_ANSWERS,
  [/^\/(?:v1\/)?$/, (json, request) => (request.method === 'POST' ? jinaPage : search)(json, request)],
]

function openaiEmbed({ input, model, encoding_format: format, dimensions, output_dimension: other }: Json): unknown {
  const inputs = isTokens(input) ? [input] : list(input)
  const size = Math.min(Number(dimensions ?? other ?? 4), 4096)
  const data = inputs.map((one, index) => {
    const vector = scriptedVector(one, size)
    return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : vector }
  })
  const tokens = inputs.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : list(one).length), 0)
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

function cohereEmbed({ texts }: Json): unknown {
  const given = list(texts) as string[]
  return {
    id: 'emb_1',
    embeddings: { float: given.map((text) => scriptedVector(text)) },
    texts: given,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: given.join('').length } },
  }
}

function partText(content: unknown): string {
  const { parts = [] } = (content ?? {}) as { parts?: { text?: string }[] }
  return parts.map(({ text = '' }) => text).join('')
}

/** A document scores by its length: the longest is first. */
function rerank({ documents, model, top_k: topK }: Json, { path }: RecordedRequest): unknown {
  const texts = list(documents).map((document) => (typeof document === 'string' ? document : String((document as Json).text)))
  const results = texts.map((text, index) => ({ index, relevance_score: Math.min(text.length / 100, 1) }))
  results.sort((a, b) => b.relevance_score - a.relevance_score)
  if (topK !== undefined) return { object: 'list', data: results, model, usage: { total_tokens: 12 } }
  if (path.includes('/v2/')) return { id: 'rr_1', results, meta: { billed_units: { search_units: 1 } } }
  return { id: 'rr_2', model, results, data: results, usage: { total_tokens: 12 } }
}

/** A text with the word `attack` is flagged. */
function moderate({ input, model }: Json): unknown {
  const parts = list(input)
  const multimodal = parts.some((part) => typeof part === 'object')
  const texts = multimodal ? [JSON.stringify(parts)] : (parts as string[])
  const mistral = String(model).startsWith('mistral')
  const results = texts.map((text) => {
    const violence = text.includes('attack')
    const verdict = { categories: { violence, hate: false }, category_scores: { violence: violence ? 0.9 : 0.1, hate: 0 } }
    return mistral ? verdict : { flagged: violence, ...verdict, category_applied_input_types: { violence: ['text'] } }
  })
  return { id: 'modr-1', model, results }
}

function ocr({ model, pages }: Json): unknown {
  const wanted = Array.isArray(pages) ? (pages as number[]) : [0, 1]
  return {
    pages: wanted.map((index) => ({
      index,
      markdown: `# Page ${index + 1}\n\nCall +1 555 0100.`,
      images: [],
      dimensions: { dpi: 200, height: 2200, width: 1700 },
    })),
    model,
    usage_info: { pages_processed: wanted.length, doc_size_bytes: 1234 },
  }
}

function compacted({ input }: Json): unknown {
  const users = list(input).filter((item) => typeof item === 'object' && (item as Json).role === 'user')
  return {
    id: 'resp_1',
    object: 'response.compaction',
    created_at: 1_700_000_000,
    output: [...users, { id: 'cmp_1', type: 'compaction', encrypted_content: 'vendor-secret' }],
    usage: { input_tokens: 50, output_tokens: 10, total_tokens: 60 },
  }
}

/** Every vendor's places of results at once. */
function search(_json: Json, { path }: RecordedRequest): unknown {
  const found = [1, 2].map((at) => ({
    title: `Result ${at}`,
    url: `https://www.example.com/${at}`,
    link: `https://www.example.com/${at}`,
    content: `Content ${at}`,
    description: `Description ${at}`,
    snippet: `Snippet ${at}`,
    highlights: [`Highlight ${at}`],
    score: 1 / at,
  }))
  if (/^\/(?:v1\/)?\?/.test(path)) return { data: found }
  if (path.includes('/res/v1/')) return { web: { results: found } }
  if (path.includes('firecrawl')) return { data: { web: found, news: found } }
  return { results: found, organic: found, news: found, items: found, data: { web: found, news: found } }
}
