// Maps the sources' provider names to our ids.

const PRIMARY: ReadonlyMap<string, string> = new Map(
  Object.entries({
    azure_text: 'azure',
    bedrock_converse: 'bedrock',
    bedrock_mantle: 'bedrock',
    codestral: 'mistral',
    cohere_chat: 'cohere',
    'fireworks_ai-embedding-models': 'fireworks',
    fireworks_ai: 'fireworks',
    gemini: 'google',
    'text-completion-codestral': 'mistral',
    'text-completion-openai': 'openai',
    together_ai: 'together',
    vercel_ai_gateway: 'vercel-gateway',
    volcengine: 'volcengine',
  }),
)

const FALLBACK: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alibaba: 'dashscope',
    'amazon-bedrock': 'bedrock',
    'azure-cognitive-services': 'azure',
    'cloudflare-workers-ai': 'cloudflare',
    'fireworks-ai': 'fireworks',
    'google-vertex': 'vertex',
    'google-vertex-anthropic': 'vertex',
    moonshotai: 'moonshot',
    'novita-ai': 'novita',
    togetherai: 'together',
    vercel: 'vercel-gateway',
    zhipuai: 'zai',
  }),
)

export function primaryProvider(name: string): string {
  if (name.startsWith('vertex_ai')) return 'vertex'
  if (name.startsWith('bedrock')) return 'bedrock'
  return PRIMARY.get(name) ?? name.toLowerCase().replaceAll('_', '-')
}

export function fallbackProvider(name: string): string {
  return FALLBACK.get(name) ?? name.toLowerCase()
}

/** Google's own models on Vertex cost what they cost elsewhere; the other way they are asked for under `google`. */
export function alsoGoogle(provider: string, model: string): boolean {
  return provider === 'vertex' && /^(?:gemini|gemma|imagen|veo|text-embedding|learnlm)/i.test(model)
}

/** The provider whose model names and prices a provider shares when the card has none of its own. */
const BASE: ReadonlyMap<string, string> = new Map([
  ['azure', 'openai'],
  ['vertex', 'google'],
])

export function baseProvider(provider: string): string | null {
  return BASE.get(provider) ?? null
}
