// The signature of a delivery (Standard Webhooks).
import { bytesToBase64, encodeUtf8 } from '../../core/text/bytes.ts'
import { secretBytes } from './secret.ts'

/** One `v1,<base64>` for each secret, separated by spaces. `timestamp`: unix seconds of this attempt. */
export async function signatures(secrets: readonly string[], id: string, timestamp: number, body: string): Promise<string> {
  const signed = encodeUtf8(`${id}.${timestamp}.${body}`)
  return (await Promise.all(secrets.map((secret) => signature(secret, signed)))).join(' ')
}

async function signature(secret: string, signed: Uint8Array): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secretBytes(secret) as BufferSource, algorithm, false, ['sign'])
  return `v1,${bytesToBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed as BufferSource)))}`
}
