// Schemas of a connection's members in the API.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { connectionCaps } from '../../core/models/model-caps.ts'
import { maskUrl } from '../../core/text/sanitize.ts'
import type { ConnectionCaps } from '../../core/types/ports/provider.ts'
import type { OpenConnection } from './opened.ts'

const provider = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, dots and dashes')
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const RESERVED =
  /^(host|connection|content-length|content-type|transfer-encoding|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/i
const headers = z
  .record(z.string(), z.string().max(4096))
  .refine((given) => Object.keys(given).length <= 50, 'must be at most 50')
  .refine((given) => Object.keys(given).every((name) => HEADER_NAME.test(name)), 'must have valid header names')
  .refine((given) => !Object.keys(given).some((name) => RESERVED.test(name)), 'must not set framing or hop-by-hop headers')
  .refine(
    (given) => Object.values(given).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)),
    'must have values without control characters',
  )

// `caps` of a connection in the API: the members of the file, in snake_case.
const apiCaps = z
  .union([z.literal('none'), z.record(z.string().max(100), z.unknown())])
  .transform((given, context): ConnectionCaps => {
    const parsed = connectionCaps.safeParse(given === 'none' ? given : renamed(given, camel))
    if (parsed.success) return parsed.data
    const nested = parsed.error.issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flat() : [issue]))
    const issue = nested.find(({ path }) => path.length > 0) ?? nested.at(-1)
    const path = (issue?.path ?? []).map((step) => (typeof step === 'string' ? snake(step) : step))
    const unknown = issue?.code === 'unrecognized_keys' ? `has no member ${issue.keys.map(snake).join(', ')}` : issue?.message
    context.addIssue({ code: 'custom', path, message: unknown ?? 'is not valid' })
    return z.NEVER
  })

export function shownCaps(caps: ConnectionCaps | null): 'none' | Record<string, unknown> | null {
  return caps === null || caps === 'none' ? caps : renamed(caps, snake)
}

/** Two levels, because `thinking` contains names too. */
function renamed(given: object, rename: (name: string) => string, depth = 0): Record<string, unknown> {
  const inner = (value: unknown) =>
    depth === 0 && typeof value === 'object' && value !== null && !Array.isArray(value) ? renamed(value, rename, 1) : value
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), inner(value)]))
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Clouds take a credential of several parts, such as the JSON file of a service account. */
function isKey(text: string): boolean {
  if (/^[\x21-\x7e]+$/.test(text)) return true
  if (!text.trimStart().startsWith('{')) return false
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

const changeable = {
  label: z.string().trim().min(1, 'must not be empty').max(200),
  api_key: z
    .string()
    .min(1, 'must not be empty')
    .max(8192)
    .refine(isKey, 'must be printable ASCII without spaces, or a JSON object with the parts of the credential')
    .nullable(),
  base_url: z.string().max(2048).nullable(),
  wire_format: z.enum(['chat', 'messages', 'responses', 'generate_content']).nullable(),
  priority: z.int().min(-1_000_000).max(1_000_000),
  enabled: z.boolean(),
  allowed_models: z.array(z.string().min(1).max(256)).max(1000),
  default_model: z.string().min(1).max(256).nullable(),
  max_inflight: z.int().min(0, 'must not be negative').max(1_000_000).nullable(),
  proxy_url: z.string().max(2048).nullable(),
  headers,
  caps: apiCaps.nullable(),
  metadata: z.record(z.string().max(100), z.union([z.string().max(1000), z.number(), z.boolean(), z.null()])),
}

export const createBody = z.strictObject({ provider, ...z.object(changeable).partial().shape })
export const updateBody = z.strictObject(changeable).partial()
export type ConnectionBody = z.output<typeof updateBody>

export const connectionRecord = z.strictObject({
  id: z.int(),
  provider: z.string(),
  label: z.string(),
  auth_type: z.string(),
  base_url: z.string().nullable(),
  wire_format: changeable.wire_format,
  has_api_key: z.boolean(),
  api_key_hint: z.string().nullable(),
  priority: z.int(),
  enabled: z.boolean(),
  allowed_models: z.array(z.string()),
  default_model: z.string().nullable(),
  max_inflight: z.int().nullable(),
  proxy_url: z.string().nullable().describe('Credentials in it are masked.'),
  headers: z.record(z.string(), z.string()).describe('Values are masked; a masked one that is sent back stays what it is.'),
  caps: z.union([z.literal('none'), z.record(z.string(), z.unknown())]).nullable(),
  metadata: z.record(z.string(), z.unknown()),
  state: z.looseObject({ status: z.string() }),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable().describe('Its name in gateway.config.ts; null for rows of the API.'),
  created_at: z.string(),
  updated_at: z.string(),
})

// The API shows secrets as masks, and clients may send a mask back. A masked header keeps its value; a mask itself is never stored.
export const MASK = '***'

type Headers = Readonly<Record<string, string>>

/** @throws GatewayError 400 for a masked header without a stored value. */
export function unmasked(given: Headers, stored: Headers): Headers {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (value !== MASK) return [name, value]
      if (Object.hasOwn(stored, name)) return [name, stored[name] as string]
      throw GatewayError.invalid(`headers.${name}`, `\`headers.${name}\` is a mask, and hides no stored value; give the value.`)
    }),
  )
}

/** @throws GatewayError 400. */
export function refuseMaskedProxy(url: string): void {
  const { username, password } = new URL(url)
  if (username === MASK || password === MASK)
    throw GatewayError.invalid('proxy_url', '`proxy_url` is masked as it was read; give the whole URL, or leave it out.')
}

export function recordOf(
  { row, connection, secret, unreadable }: OpenConnection,
  state: Record<string, unknown>,
): z.input<typeof connectionRecord> {
  const status = row.enabled ? (unreadable ? 'unreadable' : null) : 'disabled'
  return {
    id: row.id,
    provider: connection.provider,
    label: connection.label,
    auth_type: row.auth_type,
    base_url: connection.baseUrl === null ? null : maskUrl(connection.baseUrl),
    wire_format: connection.wireFormat,
    has_api_key: secret !== null,
    api_key_hint: hintOf(secret),
    priority: connection.priority,
    enabled: row.enabled,
    allowed_models: [...connection.allowedModels],
    default_model: connection.defaultModel,
    max_inflight: connection.maxInflight,
    proxy_url: maskedUrl(connection.proxyUrl),
    headers: Object.fromEntries(Object.keys(connection.headers).map((name) => [name, MASK])),
    caps: shownCaps(connection.caps ?? null),
    metadata: row.metadata,
    state: { status: 'active', ...state, ...(status === null ? {} : { status }) },
    managed_by: row.managed_by,
    config_key: row.config_key,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

/** Returns the last four characters of a secret that is long enough to stay secret. */
function hintOf(secret: string | null): string | null {
  if (secret === null) return null
  return secret.length >= 12 && !secret.trimStart().startsWith('{') ? `…${secret.slice(-4)}` : '…'
}

function maskedUrl(url: string | null): string | null {
  if (url === null || !URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username !== '') parsed.username = MASK
  if (parsed.password !== '') parsed.password = MASK
  return parsed.href.replace(/\/$/, '')
}
