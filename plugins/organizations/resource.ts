// The section `organizations` of gateway.config.ts.
import { z } from 'zod'
import type { ConfigSettings, SettingValues } from '../../core/config/define.ts'
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { SettingsService } from '../../core/services.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { Db } from '../../core/types/ports/db.ts'
import { email, name } from './api/schemas.ts'
import { dottedSettings, fileSettings } from './file-settings.ts'
import type { People } from './people.ts'
import { archiveOrganization, declareOrganization, insertOrganization, livingOrganizations } from './store.ts'

/** An organization in the file, by a key that never changes. */
export interface OrganizationConfig {
  /** Default: the key. */
  name?: string
  /** E-mail addresses of its administrators. They need no invitation. With mail, an address counts once it is verified. */
  admins?: string[]
  /** Its keys are refused. */
  suspended?: boolean
  /** Values of the settings that may differ by organization. The organization cannot change them. */
  settings?: SettingValues<ConfigSettings>
  /** Takes over the organization with this name that the API created. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    organizations: Record<string, OrganizationConfig>
  }
}

const declared = (settings: SettingsService) =>
  z.strictObject({
    name: name.optional(),
    admins: z.array(email).max(1000).default([]),
    suspended: z.boolean().default(false),
    settings: fileSettings(settings).optional(),
  })
type Declared = z.output<ReturnType<typeof declared>>

export function organizationResource(people: People): ResourceKind<Declared> {
  const settings = people.gateway.use('settings')
  const write = (db: Db, id: number, key: string, entry: Declared, text: string, since: number | null) =>
    declareOrganization(
      db,
      id,
      {
        name: entry.name ?? key,
        admins: entry.admins,
        suspendedAt: entry.suspended ? (since ?? people.now()) : null,
        settings: entry.settings === undefined ? null : dottedSettings(settings, entry.settings),
      },
      { config_key: key, declared: text },
    )
  return {
    section: 'organizations',
    schema: declared(settings),
    view: people.view,
    nameOf: (key, entry) => entry.name ?? key,
    rows: async (db) => (await livingOrganizations(db)).map((row) => resourceRow(row, row.name)),
    insert: async (db, key, entry, text) => {
      const { id } = await insertOrganization(db, entry.name ?? key, people.now(), { config_key: key, declared: text })
      await write(db, id, key, entry, text, null)
    },
    update: async (db, row, key, entry, text) => {
      const before = people.directory().rows.organizations.get(row.id)
      await write(db, row.id, key, entry, text, before?.suspended_at ?? null)
    },
    archive: (db, row) => archiveOrganization(db, row.id, people.now()),
  }
}
