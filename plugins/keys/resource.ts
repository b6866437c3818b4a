// The section `keys` of gateway.config.ts.
import type { SecretRef } from '../../core/config/secret.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { View } from '../../core/types/ports/db.ts'
import { bodyOf, type DeclaredKey, declaredKey, fieldsOf, NO_FIELDS } from './fields.ts'
import { newSecret } from './secret.ts'
import { archiveKey, configKeys, declareKey, insertKey, type NewKey } from './store.ts'

const SECRET = /^[\x21-\x7e]{24,}$/

/** A key in the file. Without `secret` one is generated: `hookgate key rotate` shows it. */
export interface KeyConfig {
  label?: string
  /** At least 24 characters, by reference: `secret.env('CI_KEY')`. */
  secret?: string | SecretRef
  /** Globs over the model string as sent; none = every model. */
  allowedModels?: string[]
  /** Requests per minute. */
  rateLimitRpm?: number | null
  /** Tokens per minute. */
  rateLimitTpm?: number | null
  costCenter?: string | null
  sessionBudgetUsd?: number | null
  /** RFC 3339. */
  expiresAt?: string | null
  /** Guardrails do not check its requests and answers. */
  guardrailsExempt?: boolean
  /** Its requests are not sampled by shadow evaluation. */
  shadowOptOut?: boolean
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    keys: Record<string, KeyConfig>
  }
}

export function keyResource(
  gateway: PluginGateway,
  view: View<unknown>,
  stored: (secret: string) => { mac: string; last4: string },
): ResourceKind<DeclaredKey> {
  const configuration = gateway.use('configuration')
  const given = (key: string, entry: DeclaredKey): string | null => {
    if (entry.secret === undefined) return null
    const secret = configuration.secret(entry.secret as string | SecretRef, `keys.${key}.secret`)
    // Applies to referenced secrets too: at least 24 characters so that they cannot be guessed, and no spaces because callers' values are
    // trimmed.
    if (!SECRET.test(secret))
      throw new Error(`keys.${key}.secret: must be at least 24 printable ASCII characters without spaces.`)
    return secret
  }
  const rowOf = (key: string, entry: DeclaredKey, declared: string): NewKey => ({
    ...fieldsOf(bodyOf(entry), { ...NO_FIELDS, label: key }),
    ...stored(given(key, entry) ?? newSecret()),
    config_key: key,
    declared,
  })
  const now = () => gateway.clock.now()
  return {
    section: 'keys',
    schema: declaredKey,
    view,
    nameOf: (key, entry) => entry.label ?? key,
    fingerprint: (key, entry) => {
      const secret = given(key, entry)
      return secret === null ? 'generated' : stored(secret).mac
    },
    rows: async (db) =>
      (await configKeys(db)).map((row) => ({
        id: row.id,
        name: row.label,
        managedBy: row.managed_by,
        configKey: row.config_key,
        declared: row.declared,
        archived: row.archived_at !== null || row.revoked_at !== null,
      })),
    insert: async (db, key, entry, declared) => {
      await insertKey(db, null, rowOf(key, entry, declared), now())
    },
    update: (db, row, key, entry, declared) =>
      declareKey(db, row.id, rowOf(key, entry, declared), entry.secret !== undefined, now()),
    archive: (db, row) => archiveKey(db, row.id, now()),
  }
}
