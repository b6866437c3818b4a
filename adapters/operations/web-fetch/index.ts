// POST /v1/web/fetch: the answer in the caller's format, and the vendors that read pages. The plugin `web-fetch` has the route.
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import type { WebFetchAnswer } from '../../../core/types/operations/operations.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { exaPages, firecrawlPages, jinaPages, tavilyPages } from './vendors.ts'

export const webFetch: OperationDriver<'web_fetch'> = {
  id: 'web_fetch',
  connections: 'all',
  routes: [],
  input: NO_TEXTS,
  output: {
    read: ({ content, title, links }) => [content, title ?? '', ...(links ?? []).map(({ text }) => text)],
    replace(answer, [content = '', title = '', ...labels]) {
      const links = answer.links?.map((link, at) => ({ ...link, text: labels[at] ?? '' })) ?? null
      return { ...(answer as WebFetchAnswer), content, title: answer.title === null ? null : title, links }
    },
  },
  estimate: () => ({ units: { pages: 1 } }),
  encode(answer, { url, format, maxCharacters, includeLinks }) {
    const { provider, content: whole, cut, links, usage } = answer
    const content = whole.length > maxCharacters ? cutAt(whole, maxCharacters) : whole
    const body = {
      object: 'web.fetch',
      url,
      final_url: answer.finalUrl,
      status: answer.status,
      content_type: answer.contentType,
      title: answer.title,
      format,
      content,
      length: content.length,
      truncated: cut || content.length < whole.length,
      ...(includeLinks && links !== null ? { links } : {}),
      fetched_at: new Date(answer.fetchedAt).toISOString(),
      provider,
      usage: provider === 'direct' ? { fetch_cost_usd: 0 } : { pages: usage.units?.pages ?? 1 },
    }
    return { contentType: JSON_TYPE, body: JSON.stringify(body) }
  },
  codecs: { firecrawl: firecrawlPages, jina: jinaPages, tavily: tavilyPages, exa: exaPages },
}

/** Never divides a surrogate pair: half of one is no text for many JSON parsers. */
function cutAt(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
}
