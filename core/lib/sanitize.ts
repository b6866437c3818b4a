// What an upstream or a bug may say to a client: one line, bounded, without paths, and without the attempt's secrets.

const MAX = 1000
const ROOTS = 'home|root|usr|var|work|tmp|opt|app|etc|srv|mnt|nix|Users|private'
const PATH = new RegExp(`(?:/(?:${ROOTS})/|[A-Za-z]:\\\\|file://)[^\\s'")\\]]*`, 'g')

export function sanitizeMessage(message: string, secrets: readonly string[] = []): string {
  // A JSON text quoted as it came has its line ends escaped.
  let line = message.split(/[\r\n]|\\[rn]/, 1)[0]?.trim() ?? ''
  // A secret may be part of a longer one.
  const longestFirst = secrets.filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length)
  for (const secret of longestFirst) line = line.replaceAll(secret, '***')
  line = line.replace(PATH, '[path]')
  return line.length > MAX ? `${line.slice(0, MAX - 1)}…` : line
}

const CREDENTIAL_HEADER = /auth|cookie|credential|key|passw|secret|signature|token/i
/** Shorter pieces of a value are words: `Bearer`, `Basic`. */
const MIN_PIECE = 8

/**
 * What must not be repeated of a connection's own headers: the values of those whose names say that they carry a credential,
 * and their pieces, since who echoes a token may leave its scheme out, and who echoes a cookie its name.
 */
export function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers)
    .filter((name) => CREDENTIAL_HEADER.test(name))
    .flatMap((name) => {
      const value = headers[name] as string
      return [value, ...value.split(/[\s;,=]+/).filter((piece) => piece.length >= MIN_PIECE)]
    })
}

/** A URL fit for logs: credentials and `key` masked. */
export function maskUrl(url: string): string {
  return url.replace(/\/\/[^/@\s]*@/, '//***@').replace(/([?&](?:key|access_token|api_key)=)[^&\s]*/gi, '$1***')
}
