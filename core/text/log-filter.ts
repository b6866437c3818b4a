// The words that filter requests: `status:5xx model:gpt-4o min_ms:2000 timeout`. The dashboard and the command line share them. They are
// the parameters of GET /api/logs.

const NAMES: Readonly<Record<string, string>> = {
  status: 'status',
  provider: 'provider',
  model: 'model',
  vm: 'virtual_model',
  virtual_model: 'virtual_model',
  key_id: 'key_id',
  key: 'key_id',
  source: 'source',
  session: 'session_id',
  session_id: 'session_id',
  user: 'user_id',
  user_id: 'user_id',
  cost_center: 'cost_center',
  cached: 'cached',
  min_ms: 'min_latency_ms',
  min_latency_ms: 'min_latency_ms',
  min_usd: 'min_cost_usd',
  min_cost_usd: 'min_cost_usd',
}

/** Values that the server takes. A word that is half typed is not sent. */
const VALUES: Readonly<Record<string, readonly [pattern: RegExp, such: string]>> = {
  status: [/^(?:(?:[1-5]\d\d|[1-5]xx|error)(?:,(?!$)|$))+$/, '200, 4xx or error'],
  min_latency_ms: [/^\d+$/, '2000'],
  min_cost_usd: [/^\d+(?:\.\d+)?$/, '0.01'],
  cached: [/^(?:true|false)$/, 'true'],
}

export const FILTER_WORDS = [
  'status',
  'model',
  'provider',
  'vm',
  'key',
  'source',
  'session',
  'user',
  'cost_center',
  'cached',
  'min_ms',
  'min_usd',
]

export interface Filter {
  readonly query: Readonly<Record<string, string>>
  /** The parts that the filter cannot read, in plain words. They do not filter anything. */
  readonly problems: readonly string[]
}

/** Keys and tokens must not reach the address, the server's log or the history of the browser. */
const SECRET = /^(?:gw_|gmt_|sk-|sk_|AIza|xai-|gsk_|whsec_|Bearer$)/i

/** @param keyIds ids of client keys by label */
export function parseFilter(text: string, keyIds: ReadonlyMap<string, number>): Filter {
  const query: Record<string, string> = {}
  const problems: string[] = []
  const free: string[] = []
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(':')
    const asked = word.slice(0, Math.max(colon, 0)).toLowerCase()
    const name = Object.hasOwn(NAMES, asked) ? NAMES[asked] : undefined
    const value = word.slice(colon + 1)
    if (SECRET.test(word) || (colon > 0 && SECRET.test(value)))
      problems.push('A word looks like a secret. It is not searched for.')
    else if (colon > 0 && name === undefined && /^[a-z_]+:/.test(word))
      problems.push(`There is no filter \`${word.slice(0, colon)}\`.`)
    else if (name === undefined) free.push(word)
    else if (value.includes('*')) problems.push(`\`${word}\`: the log compares whole names, without \`*\`.`)
    else if (value === '') problems.push(`\`${word}\` has no value.`)
    else if (name === 'key_id') {
      const id = /^\d+$/.test(value) ? value : keyIds.get(value)
      if (id === undefined) problems.push(`No key has the label \`${value}\`.`)
      else query[name] = String(id)
    } else if (VALUES[name]?.[0].test(value) === false)
      problems.push(`\`${word}\` is not complete. A value is for example ${VALUES[name]?.[1]}.`)
    else query[name] = name in query ? `${query[name]},${value}` : value
  }
  if (free.length > 0) query.q = free.join(' ')
  return { query, problems }
}

/** Words are parted by space; quotes keep the spaces of a value: `model:"my model"`. */
function wordsOf(text: string): string[] {
  const words: string[] = []
  let word = ''
  let quoted = false
  for (const char of `${text} `) {
    if (char === '"') quoted = !quoted
    else if (quoted || !/\s/.test(char)) word += char
    else if (word !== '') {
      words.push(word)
      word = ''
    }
  }
  return word === '' ? words : [...words, word.trimEnd()]
}

/** True: the text may stand in the address. */
export function mayBeShared(text: string): boolean {
  return !text.split(/[\s:]+/).some((word) => SECRET.test(word))
}
