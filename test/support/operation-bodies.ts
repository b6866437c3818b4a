// A valid body for each route of an operation besides chat, by path.
export const OPERATION_BODIES: Readonly<Record<string, (model: string) => Record<string, unknown>>> = {
  '/v1/embeddings': (model) => ({ model, input: 'hi' }),
  '/v1/rerank': (model) => ({ model, query: 'hi', documents: ['a', 'b'] }),
  '/v1/moderations': (model) => ({ model, input: 'hi' }),
  '/v1/ocr': (model) => ({ model, document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } }),
  '/v1/images/generations': (model) => ({ model, prompt: 'a cat' }),
  '/v1/audio/speech': (model) => ({ model, input: 'hi', voice: 'alloy' }),
  '/v1/search': (model) => ({ model, query: 'hi' }),
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
