// The strings of a JSON text, read and written one by one: what is not changed stays byte for byte, numbers too.

/** Names whose value is looked at together with them: `password` says more than its value does. */
export const TELLING = /pass|secret|token|key|credential/i
/** Numbers this long may be one of a card or a telephone. */
const LONG_NUMBER = /-?\d{9,}(?![\d.eE])/g

/** `lead` is what the text is to be read after. null: it is no JSON. */
export function mapJsonStrings(json: string, visit: (text: string, lead: string) => string): string | null {
  if (!isJson(json)) return null
  let out = ''
  let copied = 0
  let lead = ''
  let end = -1
  for (let open = json.indexOf('"'); open !== -1; open = json.indexOf('"', end + 1)) {
    out += withNumbers(json.slice(copied, open), visit)
    end = endOfString(json, open + 1)
    const literal = json.slice(open, end + 1)
    const text = JSON.parse(literal) as string
    const isName = json[afterSpace(json, end + 1)] === ':'
    const seen = visit(text, isName ? '' : lead)
    out += seen === text ? literal : JSON.stringify(seen)
    if (isName) lead = TELLING.test(text) ? `${text.slice(-40)}=` : ''
    copied = end + 1
  }
  return out + withNumbers(json.slice(copied), visit)
}

function withNumbers(json: string, visit: (text: string, lead: string) => string): string {
  return json.replace(LONG_NUMBER, (number) => {
    const seen = visit(number, '')
    return seen === number ? number : JSON.stringify(seen)
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function endOfString(json: string, from: number): number {
  for (let at = from; ; at++) {
    if (json[at] === '\\') at++
    else if (json[at] === '"') return at
  }
}

function afterSpace(json: string, from: number): number {
  let at = from
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++
  return at
}
