// Converts HTML to Markdown or text. It runs in a thread of its own, because a page may take seconds.
import TurndownService from 'turndown'

export interface ConvertRequest {
  readonly html: string
  readonly base: string
  readonly format: 'markdown' | 'text'
  readonly includeLinks: boolean
}

export interface Converted {
  readonly content: string
  readonly links: { text: string; url: string }[]
}

const LEFT_OUT = [
  'title',
  'script',
  'style',
  'noscript',
  'template',
  'nav',
  'iframe',
  'svg',
  'canvas',
  'object',
  'embed',
  'form',
] as const
/** The most links of one page. */
const MAX_LINKS = 500

export function convertHtml({ html, base, format, includeLinks }: ConvertRequest): Converted {
  const links = new Map<string, { text: string; url: string }>()
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' })
  service.remove(LEFT_OUT as unknown as Parameters<typeof service.remove>[0])
  service.addRule('links', {
    filter: 'a',
    replacement(content, node) {
      const text = content.replace(/\s+/g, ' ').trim()
      const url = absolute((node as { getAttribute(name: string): string | null }).getAttribute('href'), base)
      if (url === null || text === '' || isLeftOut(node as unknown as Parent)) return text
      if (links.size < MAX_LINKS) links.set(url, links.get(url) ?? { text, url })
      return format === 'markdown' ? `[${text}](${url})` : text
    },
  })
  service.addRule('images', {
    filter: 'img',
    replacement(_content, node) {
      const image = node as { getAttribute(name: string): string | null }
      const alt = (image.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim()
      const url = absolute(image.getAttribute('src'), base)
      if (format === 'text' || url === null) return alt
      return `![${alt}](${url})`
    },
  })
  if (format === 'text')
    service.addRule('unmarked', { filter: ['em', 'i', 'strong', 'b', 'code', 's', 'del'], replacement: (content) => content })
  service.addRule('tables', { filter: 'table', replacement: (_content, node) => table(node as unknown as TableElement) })
  const markdown = service.turndown(html).replace(/\n{3,}/g, '\n\n')
  return { content: format === 'text' ? plain(markdown) : markdown, links: includeLinks ? [...links.values()] : [] }
}

interface Parent {
  readonly nodeName: string
  readonly parentNode: Parent | null
}

/** Inner elements are converted before the element that is left out. */
function isLeftOut(node: Parent): boolean {
  for (let at: Parent | null = node; at !== null; at = at.parentNode)
    if ((LEFT_OUT as readonly string[]).includes(at.nodeName.toLowerCase())) return true
  return false
}

function absolute(href: string | null, base: string): string | null {
  if (href === null || !URL.canParse(href, base)) return null
  const url = new URL(href, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}

interface TableElement {
  readonly textContent: string | null
  querySelectorAll(selector: string): ArrayLike<TableElement>
}

/** A table without merged cells; each cell is one line of text. */
function table(node: TableElement): string {
  const rows = Array.from(node.querySelectorAll('tr')).map((row) =>
    Array.from(row.querySelectorAll('th, td')).map((cell) =>
      (cell.textContent ?? '').replace(/\s+/g, ' ').trim().replaceAll('|', '\\|'),
    ),
  )
  const width = Math.max(0, ...rows.map((cells) => cells.length))
  const [head = [], ...rest] = rows.filter((cells) => cells.length > 0)
  if (width === 0) return ''
  const line = (cells: readonly string[]) => `| ${Array.from({ length: width }, (_, at) => cells[at] ?? '').join(' | ')} |`
  return `\n\n${[line(head), `|${' --- |'.repeat(width)}`, ...rest.map(line)].join('\n')}\n\n`
}

/** Removes the marks of Markdown. */
function plain(markdown: string): string {
  return markdown
    .replace(/^#{1,6} /gm, '')
    .replace(/^```.*$/gm, '')
    .replace(/\\([\\`*_{}[\]()#+\-.!|>])/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
}
