// One fetch of a rate card: bounded in time and size, conditional, and only a card that has prices is one.
import type { DirectCalls } from '../../core/services.ts'
import type { ParsedCard } from './card.ts'
import { PUBLIC_HOSTS } from './source-url.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** A public card has thousands. */
const LEAST_OF_PUBLIC = 100
const ETAG = /^[\x21-\x7e]{1,256}$/

export interface CardRequest {
  readonly url: string
  readonly timeoutMs: number
  readonly proxyUrl: string | null
  /** ETag of the stored card. */
  readonly etag: string | null
  readonly signal: AbortSignal
  parse(json: unknown): ParsedCard
}

export interface FetchedCard extends ParsedCard {
  readonly etag: string | null
}

/** null: it is the one we have. @throws Error saying what is wrong, free of addresses. */
export async function fetchCard(calls: DirectCalls, request: CardRequest): Promise<FetchedCard | null> {
  const { url, timeoutMs, proxyUrl, etag, signal, parse } = request
  const headers = etag === null ? [] : ['if-none-match', etag]
  const { status, headers: said, body } = await calls.viaProxy(proxyUrl, url, timeoutMs, { headers, maxBytes: MAX_BYTES, signal })
  if (status === 304 && etag !== null) return null
  if (status !== 200) throw new Error(`The source answered ${status}.`)
  const parsed = parse(json(body))
  const least = PUBLIC_HOSTS.includes(new URL(url).hostname) ? LEAST_OF_PUBLIC : 1
  if (parsed.priced < least) throw new Error(`The rate card has ${parsed.priced} priced models; at least ${least} were expected.`)
  const tag = said.get('etag') ?? ''
  return { ...parsed, etag: ETAG.test(tag) ? tag : null }
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new Error('The source did not answer with JSON.')
  }
}
