// Makes text from an upstream or a bug safe to show to a client: one line, bounded, without paths and without the attempt's secrets.
import { secretMask } from './secret-mask.ts'

const MAX = 1000
const ROOTS = 'home|root|usr|var|work|tmp|opt|app|etc|srv|mnt|nix|Users|private'
const PATH = new RegExp(`(?:/(?:${ROOTS})/|[A-Za-z]:\\\\|file://)[^\\s'")\\]]*`, 'g')

export function sanitizeMessage(message: string, secrets: readonly string[] = []): string {
  // JSON text that is quoted in the message has escaped line ends.
  let line = message.split(/[\r\n]|\\[rn]/, 1)[0]?.trim() ?? ''
  line = secretMask(secrets)(line)
  line = line.replace(PATH, '[path]')
  return line.length > MAX ? `${line.slice(0, MAX - 1)}…` : line
}

const CREDENTIAL_HEADER = /auth|cookie|credential|key|passw|secret|signature|token/i
/** Values of these headers are public, even when they look like a credential. */
const PUBLIC_HEADER = /^accept|^content-|agent|beta|version/i
/** Shorter pieces of a value are scheme names: `Bearer`, `Basic`. */
const MIN_PIECE = 8
/** Words of Signature Version 4 in the header `authorization`. A message about the signature needs them. */
const SCHEME_WORD = /^(?:AWS4-HMAC-SHA256|Credential|SignedHeaders|Signature)$/
/** A piece of this length with letters and digits counts as a credential, whatever the header's name is. */
const MIN_OPAQUE = 20

/**
 * Returns the header values to mask in errors: values of headers whose names indicate a credential, with their pieces (an echo may omit
 * the scheme or the cookie's name), and values of other headers that look like a credential.
 */
export function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers).flatMap((name) => {
    const value = headers[name] as string
    const pieces = value.split(/[\s;,=]+/)
    if (CREDENTIAL_HEADER.test(name))
      return [value, ...pieces.filter((piece) => piece.length >= MIN_PIECE && !SCHEME_WORD.test(piece))]
    return PUBLIC_HEADER.test(name) ? [] : pieces.filter(isOpaque)
  })
}

/** Returns what errors of a connection must not show. */
export function credentialsOf({ headers, headerSecrets = [] }: ConnectionHeaders, secret: string | null): string[] {
  return [...credentialsIn(headers), ...headerSecrets, ...(secret === null ? [] : [secret, ...textsIn(secret)])]
}

/** Returns the texts of a secret that is a JSON object: an upstream may echo one of them. */
function textsIn(secret: string): string[] {
  if (!secret.trimStart().startsWith('{')) return []
  try {
    return Object.values(JSON.parse(secret) as object).filter((text) => typeof text === 'string' && text.length >= MIN_PIECE)
  } catch {
    return []
  }
}

interface ConnectionHeaders {
  readonly headers: Readonly<Record<string, string>>
  readonly headerSecrets?: readonly string[]
}

function isOpaque(piece: string): boolean {
  return piece.length >= MIN_OPAQUE && /\d/.test(piece) && /[a-z]/i.test(piece)
}

/** Returns a URL for logs, with credentials and `key` masked. */
export function maskUrl(url: string): string {
  return url.replace(/\/\/[^/@\s]*@/, '//***@').replace(/([?&](?:key|access_token|api_key)=)[^&\s]*/gi, '$1***')
}
