// Organizations, their people and their roles, in multi-tenant mode. In single-user mode the plugin does nothing.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { accountSource } from './accounts.ts'
import { signUpRoutes } from './api/sign-up.ts'
import { dataPlaneGuard } from './guard.ts'
import { letters } from './letters.ts'
import { migrations } from './migrations.ts'
import { people as peopleOf } from './people.ts'
import { organizationService } from './provided.ts'
import { forgetTokens, normalEmail } from './users.ts'

const HOUR_MS = 3_600_000

export const organizations = definePlugin({
  name: 'organizations',
  requires: ['signIn', 'audit', 'keys'],
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
    gateway.every('forget-tokens', HOUR_MS, () => forgetTokens(gateway.db, people.now()))
    return () => people.settled()
  },
})

export default organizations
