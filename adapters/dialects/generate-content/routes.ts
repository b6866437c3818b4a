// Routes of the dialect: the operation follows the last colon of the path, the model comes before it, both raw or percent-encoded.
import type { DialectRoute } from '../../../core/types/request/dialect.ts'
import { countDocs, verbs } from './docs.ts'

const VERBS: ReadonlyMap<string, boolean> = new Map([
  ['generateContent', false],
  ['streamGenerateContent', true],
])
const COUNT: ReadonlyMap<string, boolean> = new Map([['countTokens', false]])

const EMBED: ReadonlyMap<string, boolean> = new Map([['embedContent', false]])
const EMBED_MANY: ReadonlyMap<string, boolean> = new Map([['batchEmbedContents', false]])

type Parsed = { model: string; stream: boolean } | null

/** Reads the undecoded rest of the path; null for any other operation, an empty model or a malformed escape. */
const parsePath = (rest: string): Parsed => parsed(rest, VERBS)
const parseCount = (rest: string): Parsed => parsed(rest, COUNT)
/** For the operation `embeddings`. */
export const parseEmbed = (rest: string): Parsed => parsed(rest, EMBED)
export const parseEmbedMany = (rest: string): Parsed => parsed(rest, EMBED_MANY)

function parsed(rest: string, verbs: ReadonlyMap<string, boolean>): Parsed {
  const raw = rest.lastIndexOf(':')
  // Some clients encode the whole segment.
  const colon = raw === -1 ? rest.toLowerCase().lastIndexOf('%3a') : raw
  if (colon < 1) return null
  const stream = verbs.get(rest.slice(colon + (raw === -1 ? 3 : 1)))
  if (stream === undefined) return null
  try {
    return { model: decodeURIComponent(rest.slice(0, colon)), stream }
  } catch {
    return null
  }
}

export const STEMS = [
  '/v1beta/models/',
  // The stable path of the same API.
  '/v1/models/',
  // The AI SDK's Google provider omits `models/` when the id has a slash.
  '/v1beta/',
]
const SHARED = { bodyLimit: 'default', models: 'concrete' } as const

export const routes: readonly DialectRoute[] = STEMS.flatMap((stem): DialectRoute[] => [
  { ...SHARED, path: `${stem}*`, operation: 'chat', parse: parsePath, docs: verbs(stem) },
  { ...SHARED, path: `${stem}*`, operation: 'count_tokens', parse: parseCount, docs: countDocs(stem) },
])
