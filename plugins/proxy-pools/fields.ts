// Schemas of a proxy pool's members in the API.
import { z } from 'zod'
import type { Pool } from './pool.ts'
import { lastTest } from './store.ts'

const HOST = /^(?:\*|\*?\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:]+)$/i

const changeable = {
  name: z.string().trim().min(1, 'must not be empty').max(200),
  proxy_url: z.string().max(2048).describe('http, https or socks5, with its credentials. Passwords are masked on read.'),
  no_proxy: z
    .string()
    .max(4096)
    .refine(
      (list) => list.split(',').every((entry) => entry.trim() === '' || HOST.test(entry.trim())),
      'must be host names, separated by commas',
    )
    .describe('Hosts that are reached without it, and all below them, separated by commas.'),
  enabled: z.boolean(),
  strict: z.boolean().describe('True: a call that the proxy cannot carry fails. False: it is sent once more without it.'),
}

const { name, proxy_url, no_proxy, enabled, strict } = changeable
export const createBody = z.strictObject({
  name,
  proxy_url,
  no_proxy: no_proxy.default(''),
  enabled: enabled.default(true),
  strict: strict.default(false),
})
export const updateBody = z.strictObject(changeable).partial()

export const assignBody = z.strictObject({
  proxy_id: z.int().min(1).nullable().describe('Null: the connection has no proxy of its own any more.'),
  connection_id: z.int().min(1),
})

export const poolRecord = z.strictObject({
  id: z.int(),
  name: z.string(),
  proxy_url: z.string().nullable().describe('Its password is masked; null when it cannot be opened.'),
  no_proxy: z.string(),
  enabled: z.boolean(),
  strict: z.boolean(),
  assigned_connections: z.array(z.int()),
  last_test: lastTest.nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** @param lives returns whether the connection still exists. */
export function recordOf({ row, url, assigned }: Pool, lives: (id: number) => boolean): z.input<typeof poolRecord> {
  return {
    id: row.id,
    name: row.name,
    proxy_url: url === null ? null : masked(url),
    no_proxy: row.no_proxy,
    enabled: row.enabled,
    strict: row.strict,
    assigned_connections: assigned.filter(lives),
    last_test: row.last_test,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

export const MASK = '***'

/** Returns `user:***@`; a user name alone is usually a token. */
function masked(url: string): string {
  const parsed = new URL(url)
  if (parsed.password !== '') parsed.password = MASK
  else if (parsed.username !== '') parsed.username = MASK
  return parsed.href.replace(/\/$/, '')
}
