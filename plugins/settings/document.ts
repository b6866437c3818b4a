// The settings document: its form in the API, and the values that a change stores.
import { conflict } from '../../core/config/owned.ts'
import { merged, settingsIn } from '../../core/config/settings-document.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { firstIssue } from '../../core/http/api-routes.ts'
import type { DeclaredSetting } from '../../core/services.ts'
import { WORDED } from '../../core/text/issue-text.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { AllStored, Change } from './store.ts'

export type Nested = { [key: string]: unknown }

/** Returns every declared setting with its value, nested. */
export function documentOf(settings: readonly Pick<DeclaredSetting, 'key' | 'value'>[]): Nested {
  const document: Nested = Object.create(null)
  for (const { key, value } of settings) {
    const path = key.split('.')
    let at = document
    for (const part of path.slice(0, -1)) {
      at[part] ??= Object.create(null)
      at = at[part] as Nested
    }
    at[path.at(-1) as string] = value
  }
  return document
}

/** The caller that changes settings. */
export interface Changer {
  readonly orgId: number | null
  readonly role: Operator['role']
}

/**
 * Changes to store, by dotted key. For a setting that is an object, only the given members change. @throws GatewayError 400 for an unknown
 * key or an invalid value, 403 for a setting that the caller cannot change, 409 for a setting that the file fixes.
 */
export function changesOf(
  body: object,
  declared: readonly DeclaredSetting[],
  stored: AllStored,
  { orgId, role }: Changer,
): Map<string, Change> {
  const byKey = new Map(declared.map((setting) => [setting.key, setting]))
  const changes = new Map<string, Change>()
  for (const [key, given] of settingsIn(body, new Set(byKey.keys()))) {
    const setting = byKey.get(key) as DeclaredSetting
    const owner = setting.scope === 'organization' ? orgId : null
    if (owner === null && role !== 'system') throw notForOrganizations(key)
    if (setting.pinned)
      throw conflict(
        `gateway.config.ts fixes \`${key}\`${owner === null ? '' : ' for this organization'}: change it there.`,
        'managed_by_config',
      )
    const values = (owner === null ? stored.gateway : stored.organizations.get(owner)) ?? {}
    const before = Object.hasOwn(values, key) ? values[key] : setting.value
    const next = given === null ? null : merged(before, given)
    if (next !== null) check(setting, next)
    changes.set(key, { orgId: owner, value: next })
  }
  return changes
}

/** Returns the owner of the value that a caller of this organization sees changed: the organization, or null for the gateway. */
export function ownerOf(declared: readonly DeclaredSetting[], key: string, orgId: number | null): number | null {
  return declared.find((setting) => setting.key === key)?.scope === 'organization' ? orgId : null
}

function notForOrganizations(param: string): GatewayError {
  const message = `\`${param}\` is a setting of the whole gateway: only its operator changes it. GET /api/settings/sources shows which ones an organization may change.`
  return new GatewayError(message, { status: 403, type: 'permission_error', param })
}

function check({ key, schema }: DeclaredSetting, value: unknown): void {
  const parsed = schema.safeParse(value, WORDED)
  if (!parsed.success)
    throw firstIssue(parsed.error.issues.map((issue) => ({ ...issue, path: [...key.split('.'), ...issue.path] })))
}
