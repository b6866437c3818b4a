// Signing secrets: `whsec_` and base64 of 24 to 64 bytes (SPEC "Outbound webhooks").
const PREFIX = 'whsec_'
const BYTES = 32

export function newSecret(): string {
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(BYTES))))
}

export function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) return false
  try {
    const { length } = atob(text.slice(PREFIX.length))
    return length >= 24 && length <= 64
  } catch {
    return false
  }
}
