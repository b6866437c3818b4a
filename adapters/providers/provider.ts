// Makes a Provider from a row of data: authorization by kind, dialect by the provider's list.
import { memoize } from '../../core/collections/memoize.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Provider } from '../../core/types/ports/provider.ts'
import type { BuiltInDialect, Dialect } from '../../core/types/request/canonical.ts'
import type { ModelCaps, Quirks } from '../../core/types/request/dialect.ts'
import { familyCaps } from './caps/family.ts'
import { OPERATIONS } from './operations.ts'

/** How a provider expects its credential. */
export type Auth =
  | 'bearer'
  | 'token'
  | 'x-api-key'
  | 'x-goog-api-key'
  | 'x-key'
  | 'x-subscription-token'
  | 'xi-api-key'
  | 'api-key'
  | 'none'

export interface ProviderRow {
  id: string
  aliases?: readonly string[]
  /** null: every deployment has its own address (region, resource, account). */
  baseUrl: string | null
  auth?: Auth
  /** In order of preference; the value is a base URL when it differs. Default: chat. */
  dialects?: Partial<Record<Dialect, string>>
  /** Dialects whose credential is sent in another header. */
  authByDialect?: Partial<Record<Dialect, Auth>>
  quirks?: Quirks
  caps?: (model: string) => ModelCaps
}

/** The best dialects for a caller when the provider does not speak the caller's own. */
const PREFERENCE: Record<BuiltInDialect, readonly Dialect[]> & Partial<Record<Dialect, readonly Dialect[]>> = {
  chat: ['chat', 'responses', 'messages', 'generate_content'],
  messages: ['messages', 'responses', 'chat', 'generate_content'],
  generate_content: ['generate_content', 'responses', 'chat', 'messages'],
  responses: ['responses', 'chat', 'messages', 'generate_content'],
}

export function providerOf(row: ProviderRow): Provider {
  const { id, aliases = [], baseUrl, auth = 'bearer', dialects = { chat: '' }, authByDialect = {}, quirks = {} } = row
  const byFamily = (model: string): ModelCaps => familyCaps(model) ?? { family: id }
  return {
    id,
    aliases,
    baseUrl,
    dialects,
    quirks,
    needsKey: auth !== 'none',
    caps: memoize(row.caps ?? byFamily),
    operations: OPERATIONS[id] ?? {},
    dialectFor: (_request, caller) => spoken(id, dialects, caller),
    authorize(wire, dialect, secret, { connection }) {
      const kind = connection.bearer ? 'bearer' : (authByDialect[dialect] ?? auth)
      if (secret === null || kind === 'none') {
        if (secret !== null) wire.headers.push('authorization', `Bearer ${secret}`)
        return
      }
      if (kind === 'bearer') wire.headers.push('authorization', `Bearer ${secret}`)
      else if (kind === 'token') wire.headers.push('authorization', `Token ${secret}`)
      else wire.headers.push(kind, secret)
    },
  }
}

/** @throws GatewayError: the executor continues with a candidate that serves chat. */
function spoken(id: string, dialects: Partial<Record<Dialect, string>>, caller: Dialect): Dialect {
  if (Object.keys(dialects).length > 0) return nearest(dialects, caller)
  throw GatewayError.unsupported('model', `The provider \`${id}\` serves no chat models.`)
}

export function nearest(dialects: Partial<Record<Dialect, string>>, caller: Dialect): Dialect {
  return PREFERENCE[caller]?.find((dialect) => dialects[dialect] !== undefined) ?? caller
}
