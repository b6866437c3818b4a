// The caller's side of search.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { SearchAnswer, SearchRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../core/types/request/dialect.ts'
import { booleanField, numberField, others, textField } from '../../dialects/shared/fields.ts'
import { JSON_TYPE } from '../shared/answers.ts'

/** The model of a request that names neither model nor provider: the first connected search provider serves it. */
export const ANY_SEARCH = 'search'

const KNOWN = new Set([
  ...['query', 'model', 'provider', 'max_results', 'search_type', 'country', 'language', 'time_range'],
  ...['include_domains', 'exclude_domains', 'search_domain_filter', 'include_content'],
])
const MOST_RESULTS = 50

/** @throws GatewayError 400 with `param`. */
export function decodeSearch(body: WireBody): SearchRequest {
  const json = body.json() as JsonObject
  const query = textField(json, 'query')?.trim() ?? ''
  if (query === '') throw GatewayError.invalid('query', '`query` is required.')
  const most = numberField(json, 'max_results') ?? 10
  if (!Number.isInteger(most) || most < 1 || most > MOST_RESULTS)
    throw GatewayError.invalid('max_results', `\`max_results\` must be a whole number from 1 to ${MOST_RESULTS}.`)
  const filter = domains(json, 'search_domain_filter')
  const country = textField(json, 'country')
  const language = textField(json, 'language')
  const timeRange = oneOf(json, 'time_range', ['day', 'week', 'month', 'year'])
  return {
    model: searchModel(json),
    query,
    maxResults: most,
    kind: oneOf(json, 'search_type', ['web', 'news']) ?? 'web',
    ...(country === undefined ? {} : { country }),
    ...(language === undefined ? {} : { language }),
    ...(timeRange === undefined ? {} : { timeRange }),
    includeDomains: [...domains(json, 'include_domains'), ...filter.filter((one) => !one.startsWith('-'))],
    excludeDomains: [
      ...domains(json, 'exclude_domains'),
      ...filter.filter((one) => one.startsWith('-')).map((one) => one.slice(1)),
    ],
    includeContent: booleanField(json, 'include_content') ?? false,
    extra: others(json, KNOWN) ?? {},
  }
}

function searchModel(json: JsonObject): string {
  const model = textField(json, 'model') ?? ''
  const provider = textField(json, 'provider') ?? ''
  if (model !== '' && provider !== '' && !model.startsWith(`${provider}/`))
    throw GatewayError.invalid(
      'provider',
      '`model` must be one of `provider`, such as `<provider>/search`. Or send only one of the two.',
    )
  if (model !== '') return model
  return provider === '' ? ANY_SEARCH : `${provider}/search`
}

function oneOf<T extends string>(json: JsonObject, name: string, words: readonly T[]): T | undefined {
  const word = textField(json, name)
  if (word === undefined || words.includes(word as T)) return word as T | undefined
  throw GatewayError.invalid(name, `\`${name}\` must be one of ${words.map((one) => `\`${one}\``).join(', ')}.`)
}

/** Host names only: some vendors put them into the query. */
const DOMAIN = /^-?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$/i

function domains(json: JsonObject, name: string): string[] {
  const list: Json | undefined = json[name]
  if (list === undefined || list === null) return []
  if (Array.isArray(list) && list.every((one): one is string => typeof one === 'string' && DOMAIN.test(one))) return list
  throw GatewayError.invalid(name, `\`${name}\` must be a list of host names such as \`example.com\`.`)
}

export function encodeSearch(
  { results, total, usage }: Frozen<SearchAnswer>,
  { query, kind }: Frozen<SearchRequest>,
  { provider }: CodecContext,
): EncodedAnswer {
  const listed = results.map(({ title, url, snippet, score, publishedAt, faviconUrl, content }, index) => ({
    position: index + 1,
    title,
    url,
    display_url: displayed(url),
    snippet,
    score,
    published_at: publishedAt,
    favicon_url: faviconUrl,
    content,
  }))
  const body = {
    object: 'search.results',
    provider,
    query,
    search_type: kind,
    results: listed,
    total_results: total,
    usage: { queries: usage.units?.queries ?? 1 },
  }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}

function displayed(url: string): string {
  if (!URL.canParse(url)) return url
  const { hostname, pathname } = new URL(url)
  return hostname.replace(/^www\./, '') + (pathname === '/' ? '' : pathname)
}

export const queryText: TextsOf<SearchRequest> = {
  read: ({ query }) => [query],
  replace: (request, [query = '']) => ({ ...(request as SearchRequest), query }),
}

export const resultTexts: TextsOf<SearchAnswer> = {
  read: ({ results }) => results.flatMap(({ title, snippet, content }) => [title, snippet, content ?? '']),
  replace: (answer, texts) => ({
    ...(answer as SearchAnswer),
    results: answer.results.map((result, at) => {
      const [title = '', snippet = '', content = ''] = texts.slice(at * 3, at * 3 + 3)
      return { ...result, title, snippet, content: result.content === null ? null : content }
    }),
  }),
}
