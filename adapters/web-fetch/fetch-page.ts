// Fetches a page through the outbound guard: each address and each redirect is checked before it is dialled.
import ipaddr from 'ipaddr.js'
import type { Agent as AgentType, Dispatcher } from 'undici/index.js'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { concatBytes } from '../../core/text/bytes.ts'
import type { PageRequest } from '../../core/types/ports/web-page.ts'
import { decompressor } from '../transport/decompress.ts'
import { type GuardOptions, guardedAgent, systemResolve } from '../transport/outbound-guard.ts'
import { checkOutboundUrl, isPublicAddress } from '../transport/outbound-url.ts'
import { Agent } from '../transport/undici-parts.ts'

export interface FetchedPage {
  readonly finalUrl: string
  readonly status: number
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly cut: boolean
}

export type PageFetcher = (asked: PageRequest, signal: AbortSignal) => Promise<FetchedPage>

const MAX_BYTES = 5 * 1024 * 1024
const MAX_REDIRECTS = 5
/** Services that are not websites: a request line must not reach them. */
const OTHER_SERVICES = new Set([
  ...[1, 7, 9, 13, 19, 21, 22, 23, 25, 53, 110, 111, 119, 135, 139, 143, 389, 445, 465, 514, 587, 636, 993, 995, 1433, 1521],
  ...[2049, 2375, 2376, 3306, 3389, 5432, 5672, 5900, 6379, 6443, 9092, 9200, 9300, 10250, 11211, 15672, 27017],
])

export function pageFetcher(options: GuardOptions = {}): PageFetcher {
  const guarded = guardedAgent(options)
  let open: AgentType | null = null
  return async (asked, signal) => {
    const timeout = AbortSignal.timeout(asked.timeoutMs)
    const both = AbortSignal.any([signal, timeout])
    if (asked.allowPrivate) open ??= new Agent({ headersTimeout: 30_000, bodyTimeout: 30_000 })
    try {
      return await followed(asked, asked.allowPrivate ? (open as AgentType) : guarded, both)
    } catch (error) {
      if (timeout.aborted) throw GatewayError.timeout(`The page did not arrive within ${asked.timeoutMs} ms.`)
      if (signal.aborted) throw GatewayError.clientGone()
      if (GatewayError.is(error)) throw error.status === 400 ? notAllowed(error.message) : error
      const cause = error instanceof Error ? (error.cause ?? error) : error
      if (GatewayError.is(cause)) throw notAllowed(cause.message)
      throw GatewayError.upstream(502, 'The page could not be fetched: its server did not answer.')
    }
  }
}

/** Returns the check of `PageReader.checkPublic`. */
export function publicCheck({ resolve = systemResolve }: GuardOptions = {}): (url: string, strict: boolean) => Promise<void> {
  return async (text, strict) => {
    const host = hostOf(checkedPublic(text, strict))
    if (ipaddr.isValid(host)) return
    const addresses = await resolve(host).catch(() => [])
    if (!addresses.every(({ address }) => isPublicAddress(address)))
      throw notAllowed('The URL does not lead to a public address.')
  }
}

function checkedPublic(text: string, strict: boolean): URL {
  try {
    return checked(text, { strict, allowPrivate: false })
  } catch (error) {
    throw GatewayError.is(error) ? notAllowed(error.message) : error
  }
}

async function followed(asked: PageRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<FetchedPage> {
  let url = checked(asked.url, asked)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { request } = await import('undici/index.js')
    const answer = await request(url, {
      dispatcher,
      signal,
      headers: {
        accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8',
        'accept-encoding': 'gzip, br',
        'user-agent': 'hookgate/1 (web fetch)',
      },
    })
    const { location } = answer.headers
    if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string') {
      const contentType = String(answer.headers['content-type'] ?? '')
      const { bytes, cut } = await bodyOf(answer)
      return { finalUrl: url.href, status: answer.statusCode, contentType, bytes, cut }
    }
    await answer.body.dump()
    if (!URL.canParse(location, url)) throw GatewayError.upstream(502, 'The page redirects to an address that is not a URL.')
    const next = checked(new URL(location, url).href, asked)
    if (asked.strict && url.protocol === 'https:' && next.protocol === 'http:')
      throw notAllowed('The page redirects from https to http.')
    url = next
  }
  throw GatewayError.upstream(502, `The page redirects more than ${MAX_REDIRECTS} times.`)
}

/** @throws GatewayError 400. */
function checked(text: string, { strict, allowPrivate }: Pick<PageRequest, 'strict' | 'allowPrivate'>): URL {
  const url = allowPrivate && URL.canParse(text) ? new URL(text) : checkOutboundUrl(text, 'url')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw notAllowed('`url` must be an http or https URL.')
  if (url.username !== '' || url.password !== '') throw notAllowed('`url` must not contain a user name or password.')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const isOther = strict ? port !== 80 && port !== 443 : OTHER_SERVICES.has(port)
  if (isOther) throw notAllowed(`The port ${port} is not one of a website.`)
  const host = hostOf(url)
  // Cloud metadata services are never a home lab.
  if (allowPrivate && ipaddr.isValid(host) && ipaddr.process(host).range() === 'linkLocal')
    throw notAllowed('The URL does not lead to a public address.')
  return url
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function bodyOf(answer: Dispatcher.ResponseData): Promise<{ bytes: Uint8Array; cut: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let cut = false
    const done = () => resolve({ bytes: concatBytes(chunks), cut })
    const take = (chunk: Uint8Array): undefined => {
      if (cut) return
      const room = MAX_BYTES - size
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
      size += Math.min(chunk.length, room)
      if (size < MAX_BYTES) return
      cut = true
      answer.body.destroy()
      done()
    }
    const encoding = answer.headers['content-encoding']
    const plain = encoding === undefined || encoding === '' || encoding === 'identity'
    const decoder = plain ? null : decompressor(String(encoding), { data: take, end: done, error: reject })
    answer.body.on('data', (chunk: Uint8Array) => {
      if (decoder === null) return take(chunk)
      const wait = decoder.write(chunk)
      if (wait === undefined) return
      answer.body.pause()
      void wait.then(() => answer.body.resume())
    })
    answer.body.on('end', () => (decoder === null ? done() : decoder.end()))
    answer.body.on('error', (error) => (cut ? done() : reject(error)))
  })
}

function notAllowed(message: string): GatewayError {
  return GatewayError.invalid('url', message, 'url_not_allowed')
}
