// Organizations, their people and their roles, in multi-tenant mode. In single-user mode the plugin does nothing.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { accountSource } from './accounts.ts'
import { invitationRoutes } from './api/invitations.ts'
import { memberRoutes } from './api/members.ts'
import { organizationRoutes } from './api/organization.ts'
import { sessionRoutes } from './api/session.ts'
import { signUpRoutes } from './api/sign-up.ts'
import { systemRoutes } from './api/system.ts'
import { userRoutes } from './api/users.ts'
import { verifyRoutes } from './api/verify.ts'
import { purgeLate } from './deletion.ts'
import { settingsByOrganization } from './file-settings.ts'
import { dataPlaneGuard } from './guard.ts'
import { letters } from './letters.ts'
import { migrations } from './migrations.ts'
import { people as peopleOf } from './people.ts'
import { organizationService } from './provided.ts'
import { organizationResource } from './resource.ts'
import { forgetTokens, normalEmail } from './users.ts'

const HOUR_MS = 3_600_000

export const organizations = definePlugin({
  name: 'organizations',
  requires: ['signIn', 'audit', 'keys', 'plugins', 'settings'],
  config: z.strictObject({
    /** Their owners become system administrators, once the address is verified where letters are delivered. */
    adminEmails: z.array(z.string()).default([]),
    publicUrl: z.string().nullable().default(null).meta({ env: 'PUBLIC_URL' }),
  }),
  variables: {
    ADMIN_EMAILS: {
      option: 'adminEmails',
      about: 'E-mail addresses whose owners become system administrators; with mail, once they have verified the address.',
    },
  },
  migrations,
  async setup(gateway, config) {
    if (!gateway.use('signIn').multiTenant) return
    const people = await peopleOf(gateway, letters(gateway, config.publicUrl), new Set(config.adminEmails.map(normalEmail)))
    gateway.use('signIn').accounts(accountSource(people.directory))
    gateway.provide('organizations', organizationService(people))
    dataPlaneGuard(people)
    signUpRoutes(people)
    verifyRoutes(people, config.publicUrl)
    sessionRoutes(people)
    organizationRoutes(people)
    memberRoutes(people)
    invitationRoutes(people)
    systemRoutes(people)
    userRoutes(people)
    gateway.resource(organizationResource(people))
    const inFile = gateway.use('settings').organizationFile()
    const take = () => inFile.set(settingsByOrganization(people.directory().rows.organizations.values()))
    take()
    people.view.watch(take)
    gateway.every('purge-deleted', HOUR_MS, () => purgeLate(people, people.now() - 2 * HOUR_MS), { once: true })
    gateway.every('forget-tokens', HOUR_MS, () => forgetTokens(gateway.db, people.now()), { once: true })
    return async () => {
      inFile.end()
      await people.settled()
    }
  },
})

export default organizations
