// A wire request for an operator's eyes: only headers that are known to be public keep their values.

import type { ShownRequest } from '../types/playground.ts'
import type { Json } from '../types/request/canonical.ts'
import { concatBytes, decodeUtf8 } from './bytes.ts'
import { maskUrl } from './sanitize.ts'

export const HIDDEN = '***'
const PUBLIC =
  /^(?:accept(?:-encoding|-language)?|content-(?:type|length|encoding)|user-agent|anthropic-(?:version|beta)|openai-beta|idempotency-key)$/i

interface Shown {
  readonly method: string
  readonly url: string
  /** Flat [name, value, …]. */
  readonly headers: readonly string[]
  readonly body: readonly Uint8Array[] | null
}

/** @param mask removes known secrets from the texts. */
export function shownRequest(
  { method, url, headers, body }: Shown,
  mask: (text: string) => string = (text) => text,
): ShownRequest {
  const shown: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    shown[name] = PUBLIC.test(name) ? mask(headers[i + 1] as string) : HIDDEN
  }
  return {
    method,
    url: mask(maskUrl(url)),
    headers: shown,
    body: body === null ? null : jsonOf(mask(decodeUtf8(concatBytes(body)))),
  }
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
