// The page reader of `/v1/web/fetch`: fetch, check the type, convert.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PageReader, PageRequest } from '../../core/types/ports/web-page.ts'
import type { GuardOptions } from '../transport/outbound-guard.ts'
import { type FetchedPage, pageFetcher, publicCheck } from './fetch-page.ts'
import { converter } from './thread.ts'

const HTML = /^(?:text\/html|application\/xhtml\+xml)/i
const TEXT = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:json|xml|javascript|x-ndjson|yaml|toml)\b)/i

export function pageReader(options: GuardOptions = {}): PageReader {
  const fetched = pageFetcher(options)
  const converted = converter()
  const read: PageReader = async (asked, signal) => {
    const page = await fetched(asked, signal)
    const { finalUrl, status, cut, contentType } = page
    const text = textOf(page)
    const about = { finalUrl, status, cut, contentType }
    if (!HTML.test(contentType)) return { ...about, title: null, content: asJson(text, asked), links: [] }
    const title = titleOf(text)
    const wanted = asked.format === 'text' ? 'text' : 'markdown'
    if (asked.format === 'html' && !asked.includeLinks) return { ...about, title, content: text, links: [] }
    const made = await converted({ html: text, base: finalUrl, format: wanted, includeLinks: asked.includeLinks })
    if (made === null) throw GatewayError.upstream(502, 'The page could not be converted. Ask for `format: "html"`.')
    return { ...about, title, content: asked.format === 'html' ? text : made.content, links: made.links }
  }
  read.checkPublic = publicCheck(options)
  return read
}

/** @throws GatewayError 415. */
function textOf({ bytes, contentType }: FetchedPage): string {
  if (contentType !== '' && !TEXT.test(contentType) && !HTML.test(contentType))
    throw new GatewayError(`The page is \`${contentType.split(';', 1)[0]}\`; texts, HTML, JSON and XML are read.`, {
      status: 415,
      type: 'invalid_request_error',
      code: 'unsupported_media_type',
      param: 'url',
    })
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? metaCharset(bytes) ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** Old pages name their encoding in the first bytes only. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 2048))
  return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1]
}

function titleOf(html: string): string | null {
  const raw = /<title[^>]*>([^<]{0,1000})/i.exec(html)?.[1]?.replace(/\s+/g, ' ').trim()
  if (raw === undefined || raw === '') return null
  return raw.replace(/&(amp|lt|gt|quot|#39|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  apos: "'",
  nbsp: ' ',
}

function asJson(text: string, { format }: PageRequest): string {
  if (format !== 'json') return text
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
