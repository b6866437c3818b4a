// The settings document: its form in the API, and the values that a change stores.
import { conflict } from '../../core/config/owned.ts'
import { merged, settingsIn } from '../../core/config/settings-document.ts'
import { firstIssue } from '../../core/http/api-routes.ts'
import type { DeclaredSetting } from '../../core/services.ts'
import { WORDED } from '../../core/text/issue-text.ts'

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

/**
 * Values to store, by dotted key; null resets. For a setting that is an object, only the given members change. @throws GatewayError 400 for
 * an unknown key or an invalid value, 409 for a setting that the file fixes.
 */
export function changesOf(
  body: object,
  declared: readonly DeclaredSetting[],
  stored: Readonly<Record<string, unknown>>,
): Map<string, unknown> {
  const byKey = new Map(declared.map((setting) => [setting.key, setting]))
  const changes = new Map<string, unknown>()
  for (const [key, given] of settingsIn(body, new Set(byKey.keys()))) {
    const setting = byKey.get(key) as DeclaredSetting
    if (setting.pinned)
      throw conflict(`gateway.config.ts pins \`${key}\`: change it there, or take the pin() away.`, 'managed_by_config')
    const before = Object.hasOwn(stored, key) ? stored[key] : setting.value
    const next = given === null ? null : merged(before, given)
    if (next !== null) check(setting, next)
    changes.set(key, next)
  }
  return changes
}

function check({ key, schema }: DeclaredSetting, value: unknown): void {
  const parsed = schema.safeParse(value, WORDED)
  if (!parsed.success)
    throw firstIssue(parsed.error.issues.map((issue) => ({ ...issue, path: [...key.split('.'), ...issue.path] })))
}
