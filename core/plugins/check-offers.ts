// Validates the providers and dialects that a plugin offers. Each message names the plugin and the missing member.

import type { Provider } from '../types/ports/provider.ts'
import type { DialectDriver } from '../types/request/dialect.ts'

const PROVIDER = /^[a-z0-9][a-z0-9._-]{0,63}$/
const DIALECT = /^[a-z][a-z0-9_]{0,31}$/
const UPSTREAM_SIDE = ['encodeRequest', 'decodeResponse', 'decodeError'] as const
const CALLER_SIDE = [
  ...(['decodeRequest', 'encodeResponse', 'encodeStream', 'encodeError'] as const),
  ...(['spliceRequest', 'inspectResponse', 'filterStream'] as const),
]

/** @throws Error naming plugin, provider and member. */
export function checkProvider(plugin: string, provider: Provider): void {
  if (typeof provider?.id !== 'string' || !PROVIDER.test(provider.id))
    throw wrong(plugin, 'provider', provider?.id, 'its id must be lower-case letters, digits, dots and dashes')
  if (!Array.isArray(provider.aliases)) throw wrong(plugin, 'provider', provider.id, '`aliases` must be a list')
  for (const member of ['dialects', 'quirks'] as const)
    if (typeof provider[member] !== 'object' || provider[member] === null)
      throw wrong(plugin, 'provider', provider.id, `\`${member}\` must be an object`)
  for (const member of ['caps', 'dialectFor', 'authorize'] as const)
    if (typeof provider[member] !== 'function') throw wrong(plugin, 'provider', provider.id, `\`${member}\` must be a function`)
}

/** @throws Error naming plugin, dialect and member. */
export function checkDialect(plugin: string, dialect: DialectDriver): void {
  if (typeof dialect?.id !== 'string' || !DIALECT.test(dialect.id))
    throw wrong(plugin, 'dialect', dialect?.id, 'its id must be lower-case words with underscores between them')
  if (!Array.isArray(dialect.routes)) throw wrong(plugin, 'dialect', dialect.id, '`routes` must be a list; use defineDialect')
  const needed = [...UPSTREAM_SIDE, ...(dialect.routes.length === 0 ? [] : CALLER_SIDE)]
  for (const member of needed)
    if (typeof dialect[member] !== 'function') throw wrong(plugin, 'dialect', dialect.id, `\`${member}\` must be a function`)
  if (typeof dialect.decodeStream !== 'function' && typeof dialect.decodeBytes !== 'function')
    throw wrong(plugin, 'dialect', dialect.id, 'it needs `decodeStream` or `decodeBytes`')
}

function wrong(plugin: string, kind: string, id: unknown, what: string): Error {
  return new Error(`The ${kind} \`${String(id).slice(0, 64)}\` of the plugin \`${plugin}\` is defined wrongly: ${what}.`)
}
