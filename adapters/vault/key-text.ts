// Parses 32 bytes in the usual forms: raw in a file, or base64 or hex in a file or a variable.

const KEY_BYTES = 32

/** Returns the key. @throws Error that begins with `where` and contains nothing of the key. */
export function parseKey(content: string | Uint8Array, where: string): Buffer {
  const key = decode(content)
  if (key === null)
    throw new Error(`${where} must hold exactly 32 bytes: raw, base64 or hex. Make them with: openssl rand -base64 32`)
  if (new Set(key).size < 8)
    throw new Error(`${where} holds a placeholder, not a random key. Make one with: openssl rand -base64 32`)
  return key
}

function decode(content: string | Uint8Array): Buffer | null {
  if (typeof content !== 'string' && content.length === KEY_BYTES) return Buffer.from(content)
  const text = Buffer.from(content as Uint8Array)
    .toString('latin1')
    .trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}
