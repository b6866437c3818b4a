// The operations besides chat that providers serve, by provider id. A vendor with its own wire format names its codec.
import type { ServedOperation } from '../../core/types/operations/operation.ts'
import type { MediaOperation } from '../../core/types/operations/operations.ts'

/** Each codec is one of the operation's, by its name. */
export type Served = Readonly<Partial<Record<MediaOperation, ServedOperation & { readonly codec: string }>>>

/** Operations in OpenAI's wire format, below the provider's own address. */
function like(...names: readonly MediaOperation[]): Served {
  return Object.fromEntries(names.map((name) => [name, { codec: 'openai' }]))
}

function own(codec: string, more: Omit<ServedOperation, 'codec'> = {}): ServedOperation & { readonly codec: string } {
  return { codec, ...more }
}

/** Models of OpenAI that continue a text. Its chat models refuse to. */
const TEXT_MODELS = { completions: own('openai', { models: ['*-instruct*', 'davinci-*', 'babbage-*'] }) }
const FILL_IN = { completions: own('mistral', { models: ['codestral*', 'devstral*'] }) }
const FETCH = { defaultModel: 'fetch' }
const SEARCH = { defaultModel: 'search' }
const COHERE = 'https://api.cohere.com'

export const OPERATIONS: Readonly<Record<string, Served>> = {
  azure: { ...like('compact', 'embeddings', 'images', 'speech', 'transcription'), ...TEXT_MODELS },
  'black-forest-labs': { images: own('bfl') },
  brave: { search: own('brave', SEARCH) },
  cloudflare: like('embeddings'),
  cohere: { embeddings: own('cohere', { baseUrl: COHERE }), rerank: own('cohere', { baseUrl: COHERE }) },
  dashscope: like('embeddings', 'rerank'),
  databricks: like('embeddings'),
  deepinfra: like('completions', 'embeddings', 'rerank', 'images', 'speech', 'transcription'),
  deepgram: { speech: own('deepgram'), transcription: own('deepgram') },
  deepseek: { completions: own('openai', { baseUrl: 'https://api.deepseek.com/beta' }) },
  elevenlabs: { speech: own('elevenlabs'), transcription: own('elevenlabs') },
  exa: { search: own('exa', SEARCH), web_fetch: own('exa', FETCH) },
  firecrawl: { search: own('firecrawl', SEARCH), web_fetch: own('firecrawl', FETCH) },
  fireworks: like('completions', 'embeddings', 'rerank', 'transcription'),
  'github-models': like('embeddings'),
  google: { embeddings: own('google'), images: own('google'), speech: own('google') },
  'google-pse': { search: own('google_pse', SEARCH) },
  groq: like('speech', 'transcription'),
  jina: {
    embeddings: own('jina'),
    rerank: own('jina'),
    search: own('jina', { baseUrl: 'https://s.jina.ai', ...SEARCH }),
    web_fetch: own('jina', { baseUrl: 'https://r.jina.ai', ...FETCH }),
  },
  linkup: { search: own('linkup', SEARCH) },
  llamacpp: like('completions', 'embeddings', 'rerank'),
  lmstudio: like('completions', 'embeddings'),
  localai: like('completions', 'embeddings', 'rerank', 'images', 'speech', 'transcription'),
  mistral: { embeddings: own('mistral'), moderations: own('mistral'), ocr: own('mistral'), ...like('transcription'), ...FILL_IN },
  mixedbread: { ...like('embeddings'), rerank: own('jina') },
  nebius: like('embeddings', 'images'),
  novita: like('completions', 'embeddings'),
  nvidia: { embeddings: own('nvidia') },
  ollama: like('completions', 'embeddings'),
  openai: { ...like('compact', 'embeddings', 'moderations', 'images', 'speech', 'transcription'), ...TEXT_MODELS },
  openrouter: like('completions', 'embeddings'),
  perplexity: { search: own('perplexity', SEARCH) },
  sambanova: like('embeddings', 'transcription'),
  recraft: like('images'),
  searxng: { search: own('searxng', SEARCH) },
  serper: { search: own('serper', SEARCH) },
  sglang: like('completions', 'embeddings', 'rerank'),
  siliconflow: { ...like('embeddings', 'rerank', 'speech', 'transcription'), images: own('siliconflow') },
  stability: { images: own('stability') },
  tavily: { search: own('tavily', SEARCH), web_fetch: own('tavily', FETCH) },
  together: { ...like('completions', 'embeddings', 'rerank', 'speech', 'transcription'), images: own('together') },
  upstage: like('embeddings'),
  'vercel-gateway': like('embeddings', 'images'),
  vllm: like('completions', 'embeddings', 'rerank', 'transcription'),
  voyage: { embeddings: own('voyage'), rerank: own('voyage') },
  xai: { images: own('xai') },
  zai: like('embeddings', 'images'),
}
