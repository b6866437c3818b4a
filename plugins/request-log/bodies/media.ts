// Replaces media in a JSON text: base64 becomes `[media N bytes image/png]`. It works on the string in one pass, without parsing: a body
// may have 20 MiB, and most of it is media.

/** Members that hold media in one of the dialects. In other members only long strings that look like media are replaced. */
const MEDIA_MEMBER = /^(?:data|b64_json|file_data|image_data|image_url|url|partial_image_b64)$/
/** The member with the type, in the same object. */
const TYPE_MEMBER = /"(?:media_type|mime_type|mimeType|mime|format)"\s*:\s*"([\w./+-]{1,80})"/
const DATA_URL = /^data:([\w.+-]{1,60}\/[\w.+-]{1,60})[^,"]{0,100},/
const MARK = ';base64,'
const IN_TEXT = /data:([\w.+-]{1,60}\/[\w.+-]{1,60});base64,[A-Za-z0-9+/=_-]+/g
const BASE64 = /^(?:[A-Za-z0-9+/_=-]|\\\/)+$/
const MIN_CHARS = 64
const SURELY_CHARS = 4096
/** Number of characters that are checked at both ends of a long string. */
const LOOKED_AT = 512
/** Maximum distance to the member with the type. */
const NEAR = 300

export function withoutMedia(json: string): string {
  let out = ''
  let copied = 0
  let member = ''
  // Searched once and not from every string on, which would take quadratic time.
  let mark = json.indexOf(MARK)
  for (let open = json.indexOf('"'); open !== -1; ) {
    const end = endOfString(json, open + 1)
    if (json[afterSpace(json, end + 1)] === ':') member = json.slice(open + 1, Math.min(end, open + 41))
    else if (end - open > MIN_CHARS) {
      if (mark !== -1 && mark < open) mark = json.indexOf(MARK, open)
      const replaced = replacement(json, open + 1, end, member, mark !== -1 && mark < end)
      if (replaced !== null) {
        out += json.slice(copied, open + 1) + replaced
        copied = end
      }
    }
    open = json.indexOf('"', end + 1)
  }
  return copied === 0 ? json : out + json.slice(copied)
}

/** `[media 1234 bytes image/png]` */
export function mediaNote(bytes: number, type: string | null): string {
  return `[media ${bytes} bytes${type === null ? '' : ` ${type}`}]`
}

/** Returns the replacement for the string from `start` to `end`; null: keep it. `marked`: it contains a data URL. */
function replacement(json: string, start: number, end: number, member: string, marked: boolean): string | null {
  const url = DATA_URL.exec(json.slice(start, Math.min(end, start + 256)))
  if (url !== null) return mediaNote(decodedBytes(json, start + url[0].length, end), url[1] as string)
  const length = end - start
  if ((MEDIA_MEMBER.test(member) || length >= SURELY_CHARS) && looksEncoded(json, start, end))
    return mediaNote(decodedBytes(json, start, end), typeNear(json, start, end))
  if (!marked) return null
  return json
    .slice(start, end)
    .replace(IN_TEXT, (all, type: string) => mediaNote(decodedBytes(all, all.indexOf(',') + 1, all.length), type))
}

function looksEncoded(json: string, start: number, end: number): boolean {
  if (end - start <= 2 * LOOKED_AT) return BASE64.test(json.slice(start, end))
  return BASE64.test(json.slice(start, start + LOOKED_AT)) && BASE64.test(json.slice(end - LOOKED_AT, end))
}

function typeNear(json: string, start: number, end: number): string | null {
  const before = json.slice(Math.max(0, start - NEAR), start)
  const after = json.slice(end, end + NEAR)
  const sameObject = before.slice(before.lastIndexOf('{') + 1) + after.slice(0, `${after}}`.indexOf('}'))
  return TYPE_MEMBER.exec(sameObject)?.[1] ?? null
}

function decodedBytes(text: string, start: number, end: number): number {
  let last = end
  while (last > start && text[last - 1] === '=') last--
  return Math.floor(((last - start) * 3) / 4)
}

/** Returns the position of the closing quote; the end of the text when there is none. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at
  }
  return json.length
}

function afterSpace(json: string, from: number): number {
  let at = from
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++
  return at
}
