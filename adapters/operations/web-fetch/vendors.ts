// Vendors that read pages of the public web. Only the checked `url` is sent: members of theirs that name further addresses are not.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import type { OperationCodec, OperationUpstream, UpstreamRequest } from '../../../core/types/operations/operation.ts'
import type { WebFetchAnswer, WebFetchRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { leftOut } from '../shared/left-out.ts'
import { usageOf } from '../shared/usage.ts'

type Asked = Frozen<WebFetchRequest>
type Links = NonNullable<WebFetchAnswer['links']>
type Read = Pick<WebFetchAnswer, 'content'> &
  Partial<Pick<WebFetchAnswer, 'finalUrl' | 'status' | 'contentType' | 'title' | 'links'>> & { tokens?: number | undefined }

interface Vendor {
  /** The formats that the vendor returns. */
  readonly formats: readonly Asked['format'][]
  /** False: it lists no links. */
  readonly links: boolean
  request(asked: Asked): UpstreamRequest
  /** @throws GatewayError 502 when the vendor could not read the page. */
  page(json: JsonObject, asked: Asked): Read
}

export const firecrawlPages = pagesOf({
  formats: ['markdown', 'html'],
  links: true,
  request: ({ url, format, includeLinks, timeoutMs }) => ({
    path: '/scrape',
    body: { url, formats: includeLinks ? [format, 'links'] : [format], timeout: Math.max(timeoutMs, 1000) },
  }),
  page({ data, success, error }, { format }) {
    if (success === false) throw unread(loose(error))
    if (!isObject(data)) throw missing('data')
    const about = isObject(data.metadata) ? data.metadata : {}
    return {
      content: loose(data[format]),
      finalUrl: loose(about.url) || loose(about.sourceURL),
      status: tokenCount(about.statusCode) ?? 200,
      contentType: loose(about.contentType),
      title: loose(about.title) || null,
      links: linksOf(data.links),
    }
  },
})

export const jinaPages = pagesOf({
  formats: ['markdown', 'text', 'html'],
  links: true,
  request: ({ url, format, includeLinks, timeoutMs }) => ({
    path: '/',
    headers: [
      ...['x-return-format', format, 'x-timeout', String(seconds(timeoutMs))],
      ...(includeLinks ? ['x-with-links-summary', 'all'] : []),
    ],
    body: { url },
  }),
  page({ data }, { format }) {
    if (!isObject(data)) throw missing('data')
    // The status of the page is only in this text: "Target URL returned error 404: Not Found".
    const [, status] = /returned error (\d{3})\b/.exec(loose(data.warning)) ?? []
    return {
      content: (format === 'markdown' ? '' : loose(data[format])) || loose(data.content),
      finalUrl: loose(data.url),
      status: status === undefined ? 200 : Number(status),
      title: loose(data.title) || null,
      links: linksOf(data.links),
      tokens: isObject(data.usage) ? tokenCount(data.usage.tokens) : undefined,
    }
  },
})

export const tavilyPages = pagesOf({
  formats: ['markdown', 'text'],
  links: false,
  request: ({ url, format, timeoutMs }) => ({ path: '/extract', body: { urls: [url], format, timeout: seconds(timeoutMs) } }),
  page({ results, failed_results: failed }) {
    const [page] = objects(results)
    if (page === undefined) throw unread(loose(objects(failed)[0]?.error))
    return { content: loose(page.raw_content), finalUrl: loose(page.url), title: loose(page.title) || null }
  },
})

export const exaPages = pagesOf({
  formats: ['markdown', 'text', 'html'],
  links: true,
  request: ({ url, format, includeLinks, maxCharacters, timeoutMs }) => ({
    path: '/contents',
    body: {
      urls: [url],
      // One character more shows whether the page goes on.
      text: { maxCharacters: maxCharacters + 1, includeHtmlTags: format === 'html' },
      livecrawlTimeout: timeoutMs,
      ...(includeLinks ? { extras: { links: MOST_LINKS } } : {}),
    },
  }),
  page({ results, statuses }) {
    const [page] = objects(results)
    const [state] = objects(statuses)
    if (page !== undefined && state?.status !== 'error')
      return {
        content: loose(page.text),
        finalUrl: loose(page.url),
        title: loose(page.title) || null,
        links: isObject(page.extras) ? linksOf(page.extras.links) : [],
      }
    const error = isObject(state?.error) ? state.error : {}
    // A page that does not exist is an answer about the page.
    if (error.httpStatusCode === 404) return { content: '', status: 404 }
    throw unread(loose(error.tag))
  },
})

const MOST_LINKS = 500

function pagesOf({ formats, links, request, page }: Vendor): OperationCodec<'web_fetch'> {
  return async (asked, upstream) => {
    const { format, provider, url, includeLinks } = asked
    if (!formats.includes(format))
      throw GatewayError.unsupported(
        'format',
        `\`${provider}\` does not return \`${format}\`. Use ${formats.map((one) => `\`${one}\``).join(', ')}, or the provider \`direct\`.`,
      )
    warn(asked, upstream, !links && includeLinks)
    const json = parsed(await upstream.send(request(asked)))
    const { tokens, ...read } = page(json, asked)
    const usage = usageOf({ input: tokens ?? 0, units: { pages: 1 } })
    const answer: WebFetchAnswer = {
      model: upstream.model,
      usage,
      provider,
      status: 200,
      contentType: '',
      title: null,
      ...read,
      finalUrl: read.finalUrl || url,
      links: includeLinks ? (read.links ?? null) : null,
      cut: false,
      fetchedAt: upstream.codec.now(),
    }
    return { usage, answer: () => answer }
  }
}

function warn({ extra }: Asked, { codec }: OperationUpstream, noLinks: boolean): void {
  const names = Object.keys(extra).filter((name) => /^\w{1,40}$/.test(name))
  leftOut(codec, Object.fromEntries([...names.slice(0, 10), ...(noLinks ? ['include_links'] : [])].map((name) => [name, true])))
}

/** The vendor works, and the page does not: the account is not at fault, and another one would fail too. */
function unread(reason: string): GatewayError {
  const message = `The provider could not read the page${reason === '' ? '' : `: ${reason}`}.`
  return new GatewayError(message, { status: 502, type: 'api_error', code: 'upstream_error' })
}

function objects(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** Vendors list addresses, pairs of text and address, or an object of both. */
function linksOf(given: Json | undefined): Links {
  const list = isObject(given) ? Object.entries(given) : Array.isArray(given) ? given : []
  return list
    .map((one) => (Array.isArray(one) ? { text: loose(one[0]), url: loose(one[1]) } : { text: '', url: loose(one as Json) }))
    .filter(({ url }) => url !== '')
    .slice(0, MOST_LINKS)
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
