// Members of a connection in the API.
import { z } from 'zod'
import { maskUrl } from '../../core/text/sanitize.ts'
import { apiCaps, shownCaps } from './caps.ts'
import { MASK } from './masked.ts'
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

const changeable = {
  label: z.string().trim().min(1, 'must not be empty').max(200),
  api_key: z
    .string()
    .min(1, 'must not be empty')
    .max(8192)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
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
  created_at: z.string(),
  updated_at: z.string(),
})

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
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

/** The last four characters, of a secret that keeps enough to itself. */
function hintOf(secret: string | null): string | null {
  if (secret === null) return null
  return secret.length >= 12 ? `…${secret.slice(-4)}` : '…'
}

function maskedUrl(url: string | null): string | null {
  if (url === null || !URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username !== '') parsed.username = MASK
  if (parsed.password !== '') parsed.password = MASK
  return parsed.href.replace(/\/$/, '')
}
