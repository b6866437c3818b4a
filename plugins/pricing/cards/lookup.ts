// Finds a model in the card: by its own name, without its date, at the base provider, or at the only provider with a model of this name.
import type { Book, BookModel } from '../book.ts'

export interface CardMatch {
  readonly provider: string
  readonly entry: BookModel
  /** True: the price belongs to another provider. */
  readonly borrowed: boolean
}

export type CardLookup = (provider: string, model: string, borrow: boolean) => CardMatch | null

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

/** Google's own models on Vertex have the same prices as elsewhere. Models of other vendors are not looked up under `google`. */
export function alsoGoogle(provider: string, model: string): boolean {
  return provider === 'vertex' && /^(?:gemini|gemma|imagen|veo|text-embedding|learnlm)/i.test(model)
}

/** The provider whose model names and prices apply when the card has none for a provider. */
const BASE: ReadonlyMap<string, string> = new Map([
  ['azure', 'openai'],
  ['vertex', 'google'],
])

function baseProvider(provider: string): string | null {
  return BASE.get(provider) ?? null
}

export function cardLookup(book: Book): CardLookup {
  const holders = new Map<string, string[]>()
  for (const [provider, models] of book)
    for (const key of models.keys()) {
      const known = holders.get(key)
      if (known === undefined) holders.set(key, [provider])
      else known.push(provider)
    }
  const at = (provider: string, names: readonly string[], borrowed: boolean): CardMatch | null => {
    const models = book.get(provider)
    for (const name of models === undefined ? [] : names) {
      const entry = models?.get(name)
      if (entry !== undefined) return { provider, entry, borrowed }
    }
    return null
  }
  return (provider, model, borrow) => {
    const names = spellings(model)
    const own = at(provider.toLowerCase(), names, false)
    if (own !== null || !borrow) return own
    const base = baseProvider(provider)
    const based = base === null ? null : at(base, names, true)
    if (based !== null) return based
    for (const name of names) {
      const [only, ...others] = holders.get(name) ?? []
      if (only !== undefined && others.length === 0) return at(only, [name], true)
    }
    return null
  }
}

const DATED = /(?:-\d{8}|-\d{4}-\d{2}-\d{2}|@[^/@]*|:latest)$/

/** Returns the name, and the name without its date or version. */
function spellings(model: string): string[] {
  const name = model.toLowerCase()
  const bare = name.replace(DATED, '')
  return bare === name || bare === '' ? [name] : [name, bare]
}
