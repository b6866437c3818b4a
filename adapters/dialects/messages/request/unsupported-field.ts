// Finds the request field that a 400 calls unknown for this model or version, and returns it as a dotted path to remove.

const MESSAGES: readonly RegExp[] = [
  /^([\w.]+): Extra (?:inputs|fields) (?:are )?not permitted/i,
  /["'`]([\w.]+)["'`](?:\s+\w+)? (?:is|are) (?:deprecated|not supported|unsupported|not (?:allowed|permitted))/i,
  /unsupported (?:parameter|value|field)s?:? ["'`]([\w.]+)["'`]/i,
  /un(?:known|recognized|expected) (?:parameter|field|argument|key)s?:? ["'`]([\w.]+)["'`]/i,
  /unrecognized request arguments? supplied: ([\w.]+)/i,
  /does not support (?:the )?["'`]([\w.]+)["'`]/i,
]
const UNSUPPORTED =
  /unsupported|not (?:supported|permitted|allowed)|unknown|unrecogni[sz]ed|unexpected|deprecated|extra (?:inputs|fields)/i
/** A request cannot be sent without these. */
const ESSENTIAL: ReadonlySet<string> = new Set(['model', 'messages', 'max_tokens'])
/** Lists of tagged unions: the validator puts the tag after the index. */
const TAGGED_LISTS: ReadonlySet<string> = new Set(['content', 'tools', 'system', 'edits'])
/** Tagged unions outside lists. */
const TAGGED: ReadonlySet<string> = new Set(['thinking', 'tool_choice', 'cache_control', 'source', 'format'])

export function unsupportedField(message: string, param: string | null): string | null {
  const found = param !== null && UNSUPPORTED.test(message) ? param : named(message)
  if (found === null) return null
  const path = withoutTags(found.split('.')).join('.')
  return ESSENTIAL.has(path) ? null : path
}

function named(message: string): string | null {
  if (/temperature[`'"]? and [`'"]?top_p[`'"]? cannot both/i.test(message)) return 'top_p'
  if (/thinking\.type|adaptive thinking is not supported/i.test(message)) return 'thinking'
  if (/does not support the effort parameter/i.test(message)) return 'output_config.effort'
  for (const pattern of MESSAGES) {
    const match = pattern.exec(message)
    if (match !== null) return match[1] as string
  }
  return null
}

/** "tools.0.custom.strict" → "tools.0.strict", "thinking.adaptive.display" → "thinking.display". */
function withoutTags(path: string[]): string[] {
  return path.filter((_, at) => {
    if (at === path.length - 1) return true
    const before = path[at - 1] ?? ''
    return !(TAGGED.has(before) || (/^\d+$/.test(before) && TAGGED_LISTS.has(path[at - 2] ?? '')))
  })
}
