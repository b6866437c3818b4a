// Parses payload rules of the file: resolves aliases and checks paths.
import { z } from 'zod'
import { pathSegments } from '../../core/json/json-path.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import type { CodecContext } from '../../core/types/request/dialect.ts'

/** A dotted path, split into segments. */
export type Path = readonly string[]

export interface Rule {
  readonly name: string
  readonly defaults: readonly (readonly [Path, Json])[]
  readonly overrides: readonly (readonly [Path, Json])[]
  readonly removals: readonly Path[]
  matches(codec: CodecContext): boolean
}

export interface RuleSet {
  readonly rules: readonly Rule[]
  /** Messages about ignored entries, for the log. */
  readonly ignored: readonly string[]
}

/** @throws ZodError when the file has no rules, or an invalid one. */
export function readRules(file: unknown): RuleSet {
  const ignored: string[] = []
  const rules = FILE.parse(file).flatMap((given, index) => {
    if (!given.enabled) return []
    const name = given.name ?? `rule ${index + 1}`
    const kept = (path: Path): boolean => {
      if (!RESERVED.has(path[0] as string)) return true
      ignored.push(`${name}: ${path.join('.')}`)
      return false
    }
    return [ruleOf(name, given, kept)]
  })
  return { rules, ignored }
}

/** Members that the gateway itself depends on. Another value would desynchronize it from the upstream. */
export const RESERVED: ReadonlySet<string> = new Set(['stream', 'model'])

const FORMATS: Readonly<Record<string, string>> = {
  chat: 'chat',
  openai: 'chat',
  messages: 'messages',
  anthropic: 'messages',
  claude: 'messages',
  responses: 'responses',
  generate_content: 'generate_content',
  gemini: 'generate_content',
  embeddings: 'embeddings',
  rerank: 'rerank',
  images: 'images',
  audio: 'audio',
  moderations: 'moderations',
  ocr: 'ocr',
  completions: 'completions',
  search: 'search',
  web_fetch: 'web_fetch',
}
/** Formats of operations that have another name. Only the vendors of the responses dialect compact. */
const OF_OPERATION: Readonly<Record<string, string>> = { compact: 'responses', speech: 'audio', transcription: 'audio' }
/** Names that every object inherits. */
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const words = z.union([z.string(), z.array(z.string())]).transform((value) => (typeof value === 'string' ? [value] : value))
const formats = words.transform((names, context) =>
  names.map((name) => {
    const format = FORMATS[name.toLowerCase()]
    if (format === undefined) context.addIssue(`"${name}" is no format: use one of ${Object.keys(FORMATS).join(', ')}.`)
    return format ?? name
  }),
)
const path = z.string().transform((text, context): Path => {
  const segments = pathSegments(text)
  if (segments.some((segment) => segment === '' || segment.endsWith('\\'))) context.addIssue(`"${text}" is not a dotted path.`)
  if (segments.some((segment) => FORBIDDEN.has(segment))) context.addIssue(`"${text}" names what cannot be set.`)
  return segments
})
// Not z.record: it silently drops a key named `__proto__`, and the rule would look valid.
const edits = z
  .custom<Record<string, Json>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  .transform((values, context) =>
    Object.entries(values).map(([text, value]): readonly [Path, Json] => {
      const parsed = path.safeParse(text)
      if (!parsed.success) for (const issue of parsed.error.issues) context.addIssue(issue.message)
      return [parsed.data ?? [], value]
    }),
  )

const MATCH = z.strictObject({
  provider: words.optional(),
  providers: words.optional(),
  model: words.optional(),
  models: words.optional(),
  format: formats.optional(),
  formats: formats.optional(),
  wire_format: formats.optional(),
  protocol: formats.optional(),
})
const RULE = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  enabled: z.boolean().default(true),
  match: MATCH.default({}),
  default: edits.optional(),
  defaults: edits.optional(),
  default_if_absent: edits.optional(),
  override: edits.optional(),
  set: edits.optional(),
  remove: z.array(path).optional(),
  filter: z.array(path).optional(),
})
const FILE = z
  .union([z.array(RULE), z.strictObject({ rules: z.array(RULE) })])
  .transform((file) => (Array.isArray(file) ? file : file.rules))

type Given = z.output<typeof RULE>

function ruleOf(name: string, given: Given, kept: (path: Path) => boolean): Rule {
  const { match } = given
  const providers = either(match.provider, match.providers)?.map(lower)
  const models = either(match.model, match.models)?.map(lower)
  const wanted = either(match.format, match.formats, match.wire_format, match.protocol)
  const joined = (...lists: (readonly (readonly [Path, Json])[] | undefined)[]) =>
    lists.flatMap((list) => list ?? []).filter(([where]) => kept(where))
  return {
    name,
    defaults: joined(given.default, given.defaults, given.default_if_absent),
    overrides: joined(given.override, given.set),
    removals: [...(given.remove ?? []), ...(given.filter ?? [])].filter(kept),
    matches(codec) {
      const model = codec.model.toLowerCase()
      const provider = codec.provider.toLowerCase()
      return (
        (wanted === undefined || wanted.includes(formatOf(codec))) &&
        (providers === undefined || providers.some((id) => id === '*' || id === provider)) &&
        (models === undefined || models.some((glob) => globMatch(glob, model) || globMatch(glob, `${provider}/${model}`)))
      )
    },
  }
}

/** Returns the upstream's wire format; operations other than conversations have their own. */
function formatOf({ operation, upstream }: CodecContext): string {
  if (operation === 'chat') return upstream
  return OF_OPERATION[operation] ?? operation
}

/** Returns the list under any name of a member; undefined when there is none. */
function either(...lists: (readonly string[] | undefined)[]): readonly string[] | undefined {
  const said = lists.filter((list) => list !== undefined)
  return said.length === 0 ? undefined : said.flat()
}

function lower(text: string): string {
  return text.toLowerCase()
}
