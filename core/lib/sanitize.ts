// What an upstream or a bug may say to a client: one line, bounded, without paths, and without the attempt's secrets.

const MAX = 1000
const ROOTS = 'home|root|usr|var|work|tmp|opt|app|etc|srv|mnt|nix|Users|private'
const PATH = new RegExp(`(?:/(?:${ROOTS})/|[A-Za-z]:\\\\|file://)[^\\s'")\\]]*`, 'g')

export function sanitizeMessage(message: string, secrets: readonly string[] = []): string {
  // A JSON text quoted as it came has its line ends escaped.
  let line = message.split(/[\r\n]|\\[rn]/, 1)[0]?.trim() ?? ''
  for (const secret of secrets) if (secret.length >= 4) line = line.replaceAll(secret, '***')
  line = line.replace(PATH, '[path]')
  return line.length > MAX ? `${line.slice(0, MAX - 1)}…` : line
}

/** A URL fit for logs: credentials and `key` masked. */
export function maskUrl(url: string): string {
  return url.replace(/\/\/[^/@\s]*@/, '//***@').replace(/([?&](?:key|access_token|api_key)=)[^&\s]*/gi, '$1***')
}
