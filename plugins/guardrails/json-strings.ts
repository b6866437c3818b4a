// Reads and replaces the strings of a JSON text one by one. Unchanged parts keep their bytes, numbers too.

/** Names that are read together with their value: `password` tells more than the value. */
export const TELLING = /pass|secret|token|key|credential/i
/** Numbers of this length may be a card or telephone number. */
const LONG_NUMBER = /-?\d{9,}(?![\d.eE])/g

/** `lead` is the context of the text. Returns null when the text is not JSON. */
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
