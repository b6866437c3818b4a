// Parses LiteLLM's model_prices_and_context_window.json: USD per unit, one object by model id. Unknown members are skipped.
import { CAPABILITIES, MODES } from '../../../core/models/model-words.ts'
import { CardBuilder, type CardMode, type CardModel, isRecord, type ParsedCard, tokenCount } from './card.ts'
import { alsoGoogle, primaryProvider } from './lookup.ts'

/** Converts USD per token to nano-USD per 1M tokens. */
const SHIFT = 15
const NO_MODELS = new Set(['sample_spec', 'fallback_generalizations'])

const TOKENS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    input_cost_per_token: 'input',
    output_cost_per_token: 'output',
    cache_read_input_token_cost: 'cache_read',
    input_cost_per_token_cache_hit: 'cache_read',
    cache_creation_input_token_cost: 'cache_write',
    cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
    output_cost_per_reasoning_token: 'reasoning',
    input_cost_per_audio_token: 'input_audio',
    output_cost_per_audio_token: 'output_audio',
    input_cost_per_image_token: 'input_image',
    output_cost_per_image_token: 'output_image',
  }),
)

/** The first key with a price wins. */
const UNITS: readonly { name: string; keys: readonly string[]; modes?: readonly string[] }[] = [
  // For a chat model it is the price of an image in the prompt.
  { name: 'per_image', keys: ['output_cost_per_image', 'input_cost_per_image'], modes: ['image_generation', 'image_edit'] },
  { name: 'per_pixel', keys: ['output_cost_per_pixel', 'input_cost_per_pixel'] },
  { name: 'per_second', keys: ['output_cost_per_second', 'input_cost_per_second'] },
  { name: 'per_character', keys: ['input_cost_per_character'], modes: ['audio_speech'] },
  { name: 'per_query', keys: ['input_cost_per_query'] },
  { name: 'per_page', keys: ['ocr_cost_per_page'] },
]

const MODE_NAMES: ReadonlyMap<string, CardMode> = new Map(
  Object.entries({ image_edit: 'image_generation', responses: 'chat', moderations: 'moderation' } as const),
)

const FLAGS = CAPABILITIES.map((name) => [name, `supports_${name}`] as const)

export function primaryCard(json: unknown): ParsedCard {
  if (!isRecord(json)) throw new Error('The rate card is not a JSON object.')
  const builder = new CardBuilder()
  const names = new Map<string, string | null>()
  for (const [key, entry] of Object.entries(json)) {
    if (NO_MODELS.has(key) || !isRecord(entry) || typeof entry.litellm_provider !== 'string') continue
    const { provider, model, variant } = placeOf(key, entry.litellm_provider)
    add(builder, builder.model(provider, model), entry, variant, names)
  }
  // Last, because the provider's own list is not replaced.
  for (const [key, entry] of Object.entries(json)) {
    if (!isRecord(entry) || typeof entry.litellm_provider !== 'string' || !entry.litellm_provider.startsWith('vertex_ai'))
      continue
    const { provider, model, variant } = placeOf(key, entry.litellm_provider)
    if (!alsoGoogle(provider, model)) continue
    const known = builder.model('google', model)
    if (known !== null && Object.keys(known.prices).length === 0) add(builder, known, entry, variant, names)
  }
  return builder.done()
}

interface Place {
  provider: string
  model: string
  /** Variant of an image: `hd/1024x1024`. */
  variant: string | null
}

const IMAGE = /^(?:(hd|standard|low|medium|high|auto)\/)?(\d{1,5})-x-(\d{1,5})\/(?:[a-z0-9]+-steps\/)?(.+)$/

function placeOf(key: string, litellmProvider: string): Place {
  const provider = primaryProvider(litellmProvider)
  const bare = withoutProvider(key, provider)
  const [, quality, width, height, model] = (bare.includes('-x-') && IMAGE.exec(bare)) || []
  if (model === undefined) return { provider, model: bare, variant: null }
  const size = `${width}x${height}`
  return { provider, model: withoutProvider(model, provider), variant: quality === undefined ? size : `${quality}/${size}` }
}

function withoutProvider(key: string, provider: string): string {
  const slash = key.indexOf('/')
  return slash > 0 && primaryProvider(key.slice(0, slash)) === provider ? key.slice(slash + 1) : key
}

function add(
  builder: CardBuilder,
  model: CardModel | null,
  entry: Readonly<Record<string, unknown>>,
  variant: string | null,
  names: Map<string, string | null>,
): void {
  if (model === null) return
  const mode = typeof entry.mode === 'string' ? entry.mode : ''
  for (const [key, value] of Object.entries(entry)) {
    // Thousands of models share the same few members.
    if (!names.has(key)) names.set(key, tokenPriceName(key))
    const name = names.get(key) ?? null
    if (name !== null) builder.price(model, name, value, SHIFT)
  }
  for (const { name, keys, modes } of UNITS) {
    if (modes !== undefined && !modes.includes(mode)) continue
    const key = keys.find((one) => entry[one] !== undefined && Number(entry[one]) !== 0)
    const value = key === undefined ? undefined : entry[key]
    if (value !== undefined) builder.price(model, variant === null ? name : `${name}:${variant}`, value, SHIFT)
  }
  if (isRecord(entry.search_context_cost_per_query))
    builder.price(model, 'per_web_search', entry.search_context_cost_per_query.search_context_size_medium, SHIFT)
  Object.assign(model, factsOf(entry, mode))
}

/** `input_cost_per_token_above_200k_tokens_priority` → `input_above_200000_priority`. */
function tokenPriceName(key: string): string | null {
  let base = key
  let service = ''
  let above = ''
  for (let pass = 0; pass < 2; pass++) {
    const served = /_(batches|batch|priority|flex)$/.exec(base)?.[1]
    if (served !== undefined) {
      base = base.slice(0, -served.length - 1)
      service = `_${served === 'batches' ? 'batch' : served}`
    }
    const [suffix, thousands] = /_above_(\d{1,5})k_tokens$/.exec(base) ?? []
    if (suffix !== undefined) {
      base = base.slice(0, -suffix.length)
      above = `_above_${Number(thousands) * 1000}`
    }
  }
  const kind = TOKENS.get(base)
  return kind === undefined ? null : `${kind}${above}${service}`
}

function factsOf(entry: Readonly<Record<string, unknown>>, said: string): Omit<CardModel, 'id' | 'prices'> {
  const contextWindow = tokenCount(entry.max_input_tokens) ?? tokenCount(entry.max_tokens)
  const maxOutputTokens = tokenCount(entry.max_output_tokens) ?? tokenCount(entry.max_tokens)
  const mode = MODE_NAMES.get(said) ?? MODES.find((known) => known === said)
  const capabilities: CardModel['capabilities'] = {}
  for (const [name, member] of FLAGS) {
    const value = entry[member]
    if (typeof value === 'boolean') capabilities[name] = value
  }
  return {
    ...(contextWindow ? { contextWindow } : {}),
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
    ...(mode ? { mode } : {}),
    capabilities,
  }
}
