// One entry per search vendor: its request, and the place and names of its results.

import type { OperationCodec, UpstreamRequest } from '../../../core/types/operations/operation.ts'
import type { SearchRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { usageOf } from '../shared/usage.ts'
import { type ResultNames, resultsOf } from './result.ts'

type Asked = Frozen<SearchRequest>

interface Vendor {
  request(asked: Asked, model: string): UpstreamRequest
  /** The path to the list of results. */
  list(asked: Asked): readonly string[]
  names: ResultNames
  /** The path to the total number of results. */
  total?: readonly string[]
}

function searchAt({ request, list, names, total }: Vendor): OperationCodec<'search'> {
  return async (asked, upstream) => {
    const json = parsed(await upstream.send(request(asked, upstream.model)))
    const found = at(json, list(asked))
    // Some vendors leave the list out when nothing was found.
    if (found !== undefined && found !== null && !Array.isArray(found)) throw missing(list(asked).join('.'))
    const results = resultsOf(found, names).slice(0, asked.maxResults)
    const count = total === undefined ? undefined : at(json, total)
    const usage = usageOf({ units: { queries: 1 } })
    const known = typeof count === 'number' ? count : typeof count === 'string' && /^\d+$/.test(count) ? Number(count) : null
    return { usage, answer: () => ({ model: upstream.model, usage, results, total: known }) }
  }
}

function at(json: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = json
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return value
}

/** Returns an object without its undefined members. */
function given(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

function listed(names: readonly string[]): string[] | undefined {
  return names.length === 0 ? undefined : [...names]
}

function query(path: string, members: Record<string, Json | undefined>): UpstreamRequest {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(given(members))) params.set(name, String(value))
  return { method: 'GET', path: `${path}?${params}` }
}

/** For vendors without a member for domains. */
function withSites({ query: text, includeDomains, excludeDomains }: Asked): string {
  const only = includeDomains.map((domain) => `site:${domain}`).join(' OR ')
  const without = excludeDomains.map((domain) => ` -site:${domain}`).join('')
  return `${text}${only === '' ? '' : includeDomains.length > 1 ? ` (${only})` : ` ${only}`}${without}`
}

const BRAVE_AGE = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const
const GOOGLE_AGE = { day: 'd', week: 'w', month: 'm', year: 'y' } as const
const DAYS = { day: 1, week: 7, month: 31, year: 366 } as const

/** The moment from which results count, as ISO text. */
function since({ timeRange }: Asked, now: number): string | undefined {
  return timeRange === undefined ? undefined : new Date(now - DAYS[timeRange] * 86_400_000).toISOString()
}

export const searchVendors: Readonly<Record<string, OperationCodec<'search'>>> = {
  tavily: searchAt({
    request: (asked) => ({
      path: '/search',
      body: given({
        ...(asked.extra as JsonObject),
        query: asked.query.slice(0, 400),
        max_results: Math.min(asked.maxResults, 20),
        topic: asked.kind === 'news' ? 'news' : undefined,
        country: asked.country,
        time_range: asked.timeRange,
        include_domains: listed(asked.includeDomains),
        exclude_domains: listed(asked.excludeDomains),
        include_raw_content: asked.includeContent ? 'markdown' : undefined,
      }),
    }),
    list: () => ['results'],
    names: { snippet: ['content'], score: 'score', date: ['published_date'], favicon: 'favicon', content: ['raw_content'] },
  }),
  perplexity: searchAt({
    request: (asked) => ({
      path: '/search',
      body: given({
        ...(asked.extra as JsonObject),
        query: asked.query,
        max_results: Math.min(asked.maxResults, 20),
        country: asked.country,
        search_recency_filter: asked.timeRange,
        search_domain_filter: listed([...asked.includeDomains, ...asked.excludeDomains.map((domain) => `-${domain}`)]),
      }),
    }),
    list: () => ['results'],
    names: { snippet: ['snippet'], date: ['date', 'last_updated'] },
  }),
  brave: searchAt({
    request: (asked) =>
      query(asked.kind === 'news' ? '/res/v1/news/search' : '/res/v1/web/search', {
        q: withSites(asked),
        count: Math.min(asked.maxResults, 20),
        country: asked.country,
        search_lang: asked.language,
        freshness: asked.timeRange && BRAVE_AGE[asked.timeRange],
      }),
    list: ({ kind }) => (kind === 'news' ? ['results'] : ['web', 'results']),
    names: { snippet: ['description'], date: ['page_age', 'age'] },
  }),
  serper: searchAt({
    request: (asked) => ({
      path: asked.kind === 'news' ? '/news' : '/search',
      body: given({
        ...(asked.extra as JsonObject),
        q: withSites(asked),
        num: asked.maxResults,
        gl: asked.country?.toLowerCase(),
        hl: asked.language,
        tbs: asked.timeRange && `qdr:${GOOGLE_AGE[asked.timeRange]}`,
      }),
    }),
    list: ({ kind }) => [kind === 'news' ? 'news' : 'organic'],
    names: { url: ['link'], snippet: ['snippet'], date: ['date'] },
  }),
  google_pse: searchAt({
    // The model names the search engine: `google-pse/<cx>`.
    request: (asked, model) =>
      query('/customsearch/v1', {
        cx: typeof asked.extra.cx === 'string' ? asked.extra.cx : model,
        q: withSites(asked),
        num: Math.min(asked.maxResults, 10),
        gl: asked.country?.toLowerCase(),
        hl: asked.language,
        dateRestrict: asked.timeRange && `${GOOGLE_AGE[asked.timeRange]}1`,
      }),
    list: () => ['items'],
    names: { url: ['link'], snippet: ['snippet'] },
    total: ['searchInformation', 'totalResults'],
  }),
  linkup: searchAt({
    request: (asked) => ({
      path: '/search',
      body: given({
        depth: 'standard',
        ...(asked.extra as JsonObject),
        q: asked.query,
        outputType: 'searchResults',
        includeDomains: listed(asked.includeDomains),
        excludeDomains: listed(asked.excludeDomains),
      }),
    }),
    list: () => ['results'],
    names: { snippet: ['content', 'snippet'], content: ['content'] },
  }),
  searxng: searchAt({
    request: (asked) =>
      query('/search', {
        q: withSites(asked),
        format: 'json',
        categories: asked.kind === 'news' ? 'news' : 'general',
        language: asked.language,
        time_range: asked.timeRange,
      }),
    list: () => ['results'],
    names: { snippet: ['content'], score: 'score', date: ['publishedDate'] },
    total: ['number_of_results'],
  }),
  firecrawl: searchAt({
    request: (asked) => ({
      path: '/search',
      body: given({
        ...(asked.extra as JsonObject),
        query: withSites(asked),
        limit: asked.maxResults,
        sources: asked.kind === 'news' ? [{ type: 'news' }] : undefined,
        tbs: asked.timeRange && `qdr:${GOOGLE_AGE[asked.timeRange]}`,
        scrapeOptions: asked.includeContent ? { formats: ['markdown'] } : undefined,
      }),
    }),
    list: ({ kind }) => ['data', kind],
    names: { snippet: ['description', 'snippet'], date: ['date'], content: ['markdown'] },
  }),
  jina: searchAt({
    request: (asked) =>
      query('/', { q: withSites(asked), num: asked.maxResults, gl: asked.country?.toLowerCase(), hl: asked.language }),
    list: () => ['data'],
    names: { snippet: ['description', 'content'], date: ['date'], content: ['content'] },
  }),
}

/** Exa takes a date, so it needs the clock. */
export const exaSearch: OperationCodec<'search'> = (asked, upstream) =>
  searchAt({
    request: () => ({
      path: '/search',
      body: given({
        ...(asked.extra as JsonObject),
        query: asked.query,
        numResults: asked.maxResults,
        category: asked.kind === 'news' ? 'news' : undefined,
        userLocation: asked.country?.toUpperCase(),
        startPublishedDate: since(asked, upstream.codec.now()),
        includeDomains: listed(asked.includeDomains),
        excludeDomains: listed(asked.excludeDomains),
        contents: asked.includeContent ? { text: true, highlights: true } : { highlights: true },
      }),
    }),
    list: () => ['results'],
    names: {
      snippet: ['highlights', 'summary', 'text'],
      score: 'score',
      date: ['publishedDate'],
      favicon: 'favicon',
      content: ['text'],
    },
  })(asked, upstream)
