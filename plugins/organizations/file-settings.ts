// Settings that gateway.config.ts gives to an organization: `organizations.<key>.settings`.
import { z } from 'zod'
import { settingsIn } from '../../core/config/settings-document.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DeclaredSetting, SettingsService } from '../../core/services.ts'
import { WORDED } from '../../core/text/issue-text.ts'
import type { OrgRow } from './store.ts'

/** Values by dotted key. */
type Values = Readonly<Record<string, unknown>>

/** Checks the document when the rows of the file are written: every plugin has declared its settings by then. */
export function fileSettings(settings: SettingsService) {
  // Not a record: that would silently drop a member named `__proto__`.
  return z.custom<object>(isObject, 'must be an object').superRefine((document, ctx) => {
    if (!isObject(document)) return
    if (isPinned(document)) return ctx.addIssue({ code: 'custom', path: [], message: NO_PIN })
    const declared = new Map(settings.declared().map((setting) => [setting.key, setting]))
    try {
      for (const [key, value] of settingsIn(document, new Set(declared.keys()))) {
        const path = key.split('.')
        for (const issue of issuesOf(declared.get(key) as DeclaredSetting, value))
          ctx.addIssue({ code: 'custom', path: [...path, ...issue.path], message: issue.message })
      }
    } catch (error) {
      if (!GatewayError.is(error)) throw error
      ctx.addIssue({ code: 'custom', path: (error.param ?? '').split('.'), message: error.message })
    }
  })
}

function issuesOf(
  { key, scope, schema }: DeclaredSetting,
  value: unknown,
): readonly { path: (string | number)[]; message: string }[] {
  if (scope !== 'organization')
    return [{ path: [], message: `\`${key}\` is a setting of the whole gateway. Set it under \`settings\`.` }]
  if (isPinned(value)) return [{ path: [], message: NO_PIN }]
  const { error } = schema.safeParse(value, WORDED)
  return (error?.issues ?? []).map((issue) => ({ path: issue.path as (string | number)[], message: issue.message }))
}

const NO_PIN = '`pin()` is not possible here, and not needed: the organization cannot change values of the file.'

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPinned(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, 'pinned')
}

/** Returns the checked document by dotted key. */
export function dottedSettings(settings: SettingsService, document: object): Values {
  return Object.fromEntries(settingsIn(document, new Set(settings.declared().map(({ key }) => key))))
}

/** Returns the values of the organizations that the file declares now. */
export function settingsByOrganization(rows: Iterable<OrgRow>): ReadonlyMap<number, Values> {
  const found = new Map<number, Values>()
  for (const { id, settings, archived_at } of rows) if (settings !== null && archived_at === null) found.set(id, settings)
  return found
}
