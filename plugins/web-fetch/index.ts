// POST /v1/web/fetch: a page of the public web as Markdown, text or HTML. The gateway fetches it itself.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Result } from '../../core/types/result.ts'
import type { Page } from '../../core/types/web-page.ts'

const FORMATS = ['markdown', 'text', 'html', 'json'] as const
const MOST_CHARACTERS = 500_000
const LONGEST_MS = 30_000

const body = z.looseObject({
  url: z.string().min(1).max(8192),
  format: z.enum(FORMATS).nullish(),
  max_characters: z.int().min(1).max(MOST_CHARACTERS).nullish(),
  timeout_ms: z.int().min(1).max(LONGEST_MS).nullish(),
  include_links: z.boolean().nullish(),
  provider: z.literal('direct').nullish(),
})

const response = z.looseObject({
  object: z.literal('web.fetch'),
  url: z.string(),
  final_url: z.string(),
  status: z.int(),
  content_type: z.string(),
  title: z.string().nullable(),
  format: z.enum(FORMATS),
  content: z.string(),
  length: z.int(),
  truncated: z.boolean(),
  links: z.array(z.strictObject({ text: z.string(), url: z.string() })).optional(),
  fetched_at: z.iso.datetime(),
  provider: z.literal('direct'),
})

export const webFetch = definePlugin({
  name: 'web-fetch',
  settings: {
    'web_fetch.allow_private': z.boolean().default(false),
  },
  variables: {
    WEB_FETCH_ALLOW_PRIVATE: {
      setting: 'web_fetch.allow_private',
      about: 'Lets `/v1/web/fetch` read private addresses, for a home network. It has no effect on the cloud profile.',
    },
  },
  setup(gateway) {
    const pages = gateway.optional('pages')
    const guardrails = gateway.optional('guardrails')
    const { clock, profile } = gateway

    /** Returns the page with its texts as the policy for answers leaves them. */
    async function inspected(ctx: RequestContext, page: Page): Promise<Page> {
      const texts = [page.content, page.title ?? '', ...page.links.map(({ text }) => text)]
      const clean = await guardrails()?.output(ctx, texts)
      if (clean === undefined || clean === texts) return page
      const [content = '', title = '', ...labels] = clean
      const links = page.links.map((link, at) => ({ ...link, text: labels[at] ?? '' }))
      return { ...page, content, title: page.title === null ? null : title, links }
    }

    async function fetched(ctx: RequestContext): Promise<Result> {
      const { url, format, max_characters, timeout_ms, include_links } = bodyOf(ctx)
      const read = pages()
      if (read === undefined) throw GatewayError.unavailable('This gateway was given no way to fetch pages.')
      const wanted = format ?? 'markdown'
      const strict = profile === 'cloud'
      const found = await read(
        {
          url,
          format: wanted,
          includeLinks: include_links ?? false,
          timeoutMs: timeout_ms ?? 15_000,
          strict,
          allowPrivate: !strict && gateway.settings.get('web_fetch.allow_private'),
        },
        ctx.signal,
      )
      const page = await inspected(ctx, found)
      const content = page.content.slice(0, max_characters ?? 50_000)
      const answer: z.input<typeof response> = {
        object: 'web.fetch',
        url,
        final_url: page.finalUrl,
        status: page.status,
        content_type: page.contentType,
        title: page.title,
        format: wanted,
        content,
        length: content.length,
        truncated: page.cut || content.length < page.content.length,
        ...(include_links ? { links: page.links } : {}),
        fetched_at: new Date(clock.now()).toISOString(),
        provider: 'direct',
        usage: { fetch_cost_usd: 0 },
      }
      const headers = ['content-type', 'application/json; charset=utf-8']
      return { kind: 'raw', status: 200, headers, body: encodeUtf8(JSON.stringify(answer)) }
    }

    gateway.data({
      method: 'POST',
      path: '/v1/web/fetch',
      operation: 'web_fetch',
      models: 'none',
      scope: 'rate',
      summary: 'A page of the public web as Markdown, text, HTML or JSON.',
      body,
      response,
      handler: fetched,
    })
  },
})

/** @throws GatewayError 400 naming the member. */
function bodyOf(ctx: RequestContext): z.output<typeof body> {
  const { data, error } = body.safeParse(JSON.parse(decodeUtf8(ctx.rawBody as Uint8Array)))
  if (data !== undefined) return data
  const [issue] = error.issues
  const param = issue?.path.join('.') ?? null
  throw GatewayError.invalid(
    param === '' ? null : param,
    param === 'url' && issue?.code === 'invalid_type' ? '`url` is required.' : `\`${param}\`: ${issue?.message}.`,
  )
}

export default webFetch
