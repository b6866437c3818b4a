// The body and the answer of POST /v1/web/fetch.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { WebFetchRequest } from '../../core/types/operations/operations.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'

/** The provider that is the gateway itself. */
export const DIRECT = 'direct'

const FORMATS = ['markdown', 'text', 'html', 'json'] as const
const MOST_CHARACTERS = 500_000
const LONGEST_MS = 30_000

const members = {
  url: z.string().min(1).max(8192),
  format: z.enum(FORMATS).nullish(),
  max_characters: z.int().min(1).max(MOST_CHARACTERS).nullish(),
  timeout_ms: z.int().min(1).max(LONGEST_MS).nullish(),
  include_links: z.boolean().nullish(),
  provider: z.string().min(1).max(64).nullish(),
}

export const body = z.looseObject(members)

export const response = z.looseObject({
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
  provider: z.string(),
})

/** @throws GatewayError 400 naming the member. */
export function requestOf(json: unknown): WebFetchRequest {
  const { data, error } = body.safeParse(json)
  if (data === undefined) throw refused(error)
  const { url, format, max_characters, timeout_ms, include_links, provider } = data
  return {
    model: '',
    provider: provider ?? DIRECT,
    url,
    format: format ?? 'markdown',
    maxCharacters: max_characters ?? 50_000,
    timeoutMs: timeout_ms ?? 15_000,
    includeLinks: include_links ?? false,
    extra: Object.fromEntries(Object.entries(data).filter(([name]) => !Object.hasOwn(members, name))) as JsonObject,
  }
}

function refused({ issues: [issue] }: z.ZodError): GatewayError {
  const param = issue?.path.join('.') ?? null
  return GatewayError.invalid(
    param === '' ? null : param,
    param === 'url' && issue?.code === 'invalid_type' ? '`url` is required.' : `\`${param}\`: ${issue?.message}.`,
  )
}
