// Finds the request field that an upstream's 400 calls unknown, and returns it as a dotted path to remove.

const MESSAGES: readonly RegExp[] = [
  /^([\w.[\]]+): Extra (?:inputs|fields) (?:are )?not permitted/i,
  /unsupported (?:parameter|value)s?:? ['"`]([\w.[\]]+)['"`]/i,
  /un(?:known|recognized) (?:parameter|field|argument|key)s?:? ['"`]([\w.[\]]+)['"`]/i,
  /unrecognized request arguments? supplied: ([\w.[\]]+)/i,
  /property ['"`]([\w.[\]]+)['"`] is (?:unsupported|not (?:supported|allowed))/i,
  /['"`]([\w.[\]]+)['"`] is (?:not supported|unsupported|deprecated)/i,
  /['"`]([\w.[\]]+)['"`] (?:parameter|field) is not supported/i,
  /(?:parameter|field|argument) ['"`]([\w.[\]]+)['"`] is not (?:supported|allowed|permitted)/i,
  /does not support (?:the )?(?:parameter|field)s?:? ['"`]?([\w.[\]]+)/i,
  /additional properties are not allowed \(['"`]([\w.[\]]+)['"`]/i,
]
const UNSUPPORTED = /unsupported|not (?:supported|permitted|allowed)|unknown|unrecogni[sz]ed|deprecated|extra (?:inputs|fields)/i
const CODES: ReadonlySet<string> = new Set(['unsupported_parameter', 'unsupported_value', 'unknown_parameter', 'extra_forbidden'])
/** A request cannot be sent without these. */
const ESSENTIAL: ReadonlySet<string> = new Set(['model', 'messages', 'input', 'contents'])

export function unsupportedField(message: string, param: string | null, code: string | null): string | null {
  const field = named(message, param, code)
  if (field === null) return null
  const path = dotted(field)
  return path === '' || ESSENTIAL.has(path) ? null : path
}

function named(message: string, param: string | null, code: string | null): string | null {
  if (/function tools with reasoning_effort are not supported/i.test(message)) return 'reasoning_effort'
  // Google's compatible endpoint names several fields per message; the first is removed first.
  const google = /Unknown name \\?"([^"\\]+)\\?"(?: at '([^']*)')?/.exec(message)
  if (google) return google[2] ? `${google[2]}.${google[1]}` : (google[1] as string)
  if (param !== null && ((code !== null && CODES.has(code)) || UNSUPPORTED.test(message))) return param
  for (const pattern of MESSAGES) {
    const found = pattern.exec(message)
    if (found) return nested(message, found[1] as string)
  }
  return null
}

/** "'messages.2' : … property 'x' is unsupported" names the containing object first. */
function nested(message: string, field: string): string {
  const owner = /^['"`](messages[.[]\d+\]?)['"`]/.exec(message)
  return owner && !field.includes('.') ? `${owner[1]}.${field}` : field
}

function dotted(field: string): string {
  return field
    .replace(/\[(\d+)\]/g, '.$1')
    .replaceAll('..', '.')
    .replace(/^\./, '')
}
