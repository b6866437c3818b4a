// A valid body for each route of an operation besides chat, by path.
export const OPERATION_BODIES: Readonly<Record<string, (model: string) => Record<string, unknown>>> = {
  '/v1/embeddings': (model) => ({ model, input: 'hi' }),
  '/v1/rerank': (model) => ({ model, query: 'hi', documents: ['a', 'b'] }),
  '/v1/moderations': (model) => ({ model, input: 'hi' }),
  '/v1/ocr': (model) => ({ model, document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } }),
  '/v1/images/generations': (model) => ({ model, prompt: 'a cat' }),
  '/v1/audio/speech': (model) => ({ model, input: 'hi', voice: 'alloy' }),
  '/v1/search': (model) => ({ model, query: 'hi' }),
  '/v1/completions': (model) => ({ model, prompt: 'hi' }),
  '/v1/responses/compact': (model) => ({ model, input: 'hi', mode: 'native' }),
}

/** For the port `readPage`. */
export const PAGE = {
  finalUrl: 'https://example.com/',
  status: 200,
  contentType: 'text/plain',
  title: null,
  content: 'Hi',
  cut: false,
  links: [],
}

/** A body for each path of Google's API. */
export function googleBody(path: string): object {
  const content = { role: 'user', parts: [{ text: 'Hi' }] }
  if (path.endsWith(':embedContent')) return { content }
  return path.endsWith(':batchEmbedContents') ? { requests: [{ content }] } : { contents: [content] }
}

/** A form for each route that takes uploads only, by path. */
export const OPERATION_FORMS: Readonly<Record<string, (model: string) => FormData>> = {
  '/v1/images/edits': (model) => form({ model, prompt: 'a hat', image: new Blob(['image']) }),
  '/v1/images/variations': (model) => form({ model, image: new Blob(['image']) }),
  '/v1/audio/transcriptions': (model) => form({ model, file: new Blob(['a recording']) }),
  '/v1/audio/translations': (model) => form({ model, file: new Blob(['a recording']) }),
}

function form(parts: Record<string, string | Blob>): FormData {
  const made = new FormData()
  for (const [name, value] of Object.entries(parts)) made.set(name, value)
  return made
}

/** Operations besides chat, which the trial provider does not serve. */
export const OPERATIONS =
  /:(?:embedContent|batchEmbedContents)$|^\/v1\/(?:embeddings|rerank|moderations|ocr|search|responses\/compact|images\/generations|audio\/speech)$/

const DRAFT = { strategy: 'failover', targets: ['echo/echo-1'] }
const PLAYED = { dialect: 'chat', body: { model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hi' }] } }
/** Bodies of routes that take drafts, by operation. */
export const DRAFTS: Readonly<Record<string, object>> = {
  'POST /api/virtual-models': DRAFT,
  'POST /api/virtual-models/preview': DRAFT,
  'POST /api/playground/translate': PLAYED,
  'POST /api/playground/run': PLAYED,
}
