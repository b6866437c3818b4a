// Pages that the scripted vendors read: the address chooses what happens to the page.
import type { RecordedRequest } from '../script.ts'

type Json = Record<string, unknown>

/** An address with this word does not exist for the vendors. */
export const GONE = 'no-such-page'
const TITLE = 'A page'
const LINK = 'https://example.com/next'

/** Returns the text that every vendor reads at an address. */
export function scriptedPage(url: string): string {
  return `# Page\n\nRead at ${url}.`
}

export const PAGE_ANSWERS: readonly (readonly [RegExp, (json: Json, request: RecordedRequest) => unknown])[] = [
  [/\/scrape$/, firecrawl],
  [/\/extract$/, tavily],
  [/\/contents$/, exa],
]

function firecrawl({ url, formats }: Json): unknown {
  const wanted = formats as string[]
  const metadata = { title: TITLE, url, statusCode: String(url).includes(GONE) ? 404 : 200, contentType: 'text/html' }
  const links = wanted.includes('links') ? { links: [LINK] } : {}
  return { success: true, data: { [wanted[0] as string]: scriptedPage(String(url)), ...links, metadata } }
}

function tavily({ urls }: Json): unknown {
  const [url] = urls as [string]
  if (url.includes(GONE)) return { results: [], failed_results: [{ url, error: 'Not found' }] }
  return { results: [{ url, raw_content: scriptedPage(url) }], failed_results: [], response_time: 0.1 }
}

function exa({ urls, text, extras }: Json): unknown {
  const [url] = urls as [string]
  const id = url
  if (url.includes(GONE))
    return { results: [], statuses: [{ id, status: 'error', error: { tag: 'CRAWL_NOT_FOUND', httpStatusCode: 404 } }] }
  const content = scriptedPage(url).slice(0, Number((text as Json).maxCharacters))
  const links = extras === undefined ? {} : { extras: { links: [LINK] } }
  return { results: [{ id, url, title: TITLE, text: content, ...links }], statuses: [{ id, status: 'success' }] }
}

/** The reader of Jina is at the root of its own host. */
export function jinaPage({ url }: Json, { headers }: RecordedRequest): unknown {
  const format = String(headers['x-return-format'])
  const links = headers['x-with-links-summary'] === undefined ? {} : { links: [['Next', LINK]] }
  const gone = String(url).includes(GONE) ? { warning: 'Target URL returned error 404: Not Found' } : {}
  const place = format === 'markdown' ? 'content' : format
  const data = { title: TITLE, url, [place]: scriptedPage(String(url)), ...links, ...gone, usage: { tokens: 9 } }
  return { code: 200, status: 20000, data }
}
