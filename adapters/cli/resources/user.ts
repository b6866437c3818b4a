// `hookgate user` and `hookgate signup`: manages the accounts of a gateway with tenants.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import type { Place } from '../control-plane/control-plane.ts'
import { type Organization, organizationOf, readTenants, type User, userOf, withTenants } from '../control-plane/tenants.ts'
import { failUsage } from '../fail.ts'
import { readSecret } from '../flag-values.ts'
import { cell, printJson, say, table } from '../output/table.ts'

const which = { user: { type: 'positional', required: true, description: 'Number or e-mail address of the account' } } as const
const ORG_ROLES = ['member', 'admin', 'owner']

export const listUsers = action({
  name: 'list',
  description: 'List accounts.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const users = await readTenants(given, ({ call }) => call<{ data: User[] }>('GET', '/api/users'))
    if (given.json) return printJson(users)
    const rows = users.data.map((user) => [
      user.id,
      user.email,
      user.name,
      user.email_verified ? 'yes' : 'no',
      user.disabled ? 'disabled' : user.system_admin ? 'system admin' : 'active',
      user.orgs.map(({ name, role }) => `${name} (${role})`),
    ])
    console.log(
      table(
        ['ID', 'EMAIL', 'NAME', 'VERIFIED', 'STATE', 'ORGANIZATIONS'],
        rows.map((row) => row.map(cell)),
      ),
    )
  },
})

export const create = action({
  name: 'create',
  description: 'Create an account with a verified address. The password is read from standard input or asked for.',
  args: {
    email: { type: 'positional', required: true, description: 'E-mail address' },
    name: { type: 'string', description: 'Name of the person', valueHint: 'text' },
    org: { type: 'string', description: 'Number or name of an organization to join', valueHint: 'org' },
    role: { type: 'string', description: 'Role there: member, admin or owner; default: member', valueHint: 'role' },
    'without-password': { type: 'boolean', description: 'The person asks for a new password, or uses the identity provider' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { email: 'email', name: 'name', org_id: 'org', role: 'role' },
  async run(given) {
    if (given.role !== undefined && given.org === undefined) failUsage('`--role` needs `--org`.')
    const password = given['without-password'] ? undefined : await readSecret('the password', ['Password: ', 'Again: '])
    const made = await withTenants(given, async (plane) => {
      const org_id = given.org === undefined ? undefined : (await organizationOf(plane, given.org)).id
      return plane.call<User>('POST', '/api/users', { email: given.email, name: given.name, password, org_id, role: given.role })
    })
    if (given.json) printJson(made)
    else say.success(`Account ${made.id} (${made.email}) is created.`)
  },
})

export const disable = action({
  name: 'disable',
  description: 'Disable an account: its sessions end on running servers within two seconds.',
  args: { ...which, ...JSON_FLAG, ...PLANE },
  run: (given) => update(given, { disabled: true }),
})

export const enable = action({
  name: 'enable',
  description: 'Enable a disabled account.',
  args: { ...which, ...JSON_FLAG, ...PLANE },
  run: (given) => update(given, { disabled: false }),
})

async function update(given: Place & { user: string; json?: boolean | undefined }, body: object): Promise<void> {
  const user = await withTenants(given, async (plane) =>
    plane.call<User>('PATCH', `/api/users/${(await userOf(plane, given.user)).id}`, body),
  )
  if (given.json) printJson(user)
  else say.success(`Account ${user.id} (${user.email}) is ${stateOf(user)}.`)
}

function stateOf({ disabled, system_admin }: User): string {
  if (disabled) return 'disabled'
  return system_admin ? 'a system administrator' : 'active'
}

export const role = action({
  name: 'role',
  description: 'Set a role: `member`, `admin` or `owner` with --org, `system` or `user` without.',
  args: {
    ...which,
    role: { type: 'positional', required: true, description: 'The role' },
    org: { type: 'string', description: 'Number or name of the organization', valueHint: 'org' },
    ...JSON_FLAG,
    ...PLANE,
  },
  async run(given) {
    const { org, role } = given
    if (org === undefined) {
      if (role !== 'system' && role !== 'user') failUsage('Without `--org` the role is `system` or `user`.')
      return update(given, { system_admin: role === 'system' })
    }
    if (!ORG_ROLES.includes(role)) failUsage('In an organization the role is `member`, `admin` or `owner`.')
    const answer = await withTenants(given, async (plane) => {
      const [user, found] = [await userOf(plane, given.user), await organizationOf(plane, org)]
      return { user, org: found, member: await plane.call('PUT', `/api/orgs/${found.id}/members/${user.id}`, { role }) }
    })
    if (given.json) printJson(answer.member)
    else say.success(`${answer.user.email} has the role ${role} in ${answer.org.name}.`)
  },
})

export const signup = action({
  name: 'signup',
  description: 'Create the first account, with an organization or as a system administrator.',
  args: {
    email: { type: 'string', description: 'E-mail address', valueHint: 'email' },
    name: { type: 'string', description: 'Name of the person', valueHint: 'text' },
    org: { type: 'string', description: 'Name of a new organization that the account owns', valueHint: 'name' },
    admin: { type: 'boolean', description: 'The account administers the whole gateway' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { email: 'email', name: 'name', system_admin: 'admin' },
  async run(given) {
    const email = given.email ?? failUsage('`--email`: give the address of the account.')
    if (given.admin !== true && given.org === undefined)
      failUsage('Say `--admin`, or `--org` with the name of an organization, or both.')
    const password = await readSecret('the password', ['Password: ', 'Again: '])
    const made = await withTenants(given, async ({ call }) => {
      const user = await call<User>('POST', '/api/users', {
        email,
        name: given.name,
        password,
        system_admin: given.admin === true,
      })
      const org =
        given.org === undefined ? null : await call<Organization>('POST', '/api/orgs', { name: given.org, owner: email })
      return { user, org }
    })
    if (given.json) return printJson(made)
    say.success(
      `Account ${made.user.id} (${made.user.email}) is created${given.admin ? ' and administers the gateway' : ''}. Sign in with it.`,
    )
  },
})
