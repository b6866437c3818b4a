// `hookgate org`: manages the organizations of a gateway with tenants.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import type { Place } from '../control-plane/control-plane.ts'
import { type Organization, organizationOf, readTenants, withTenants } from '../control-plane/tenants.ts'
import { failUsage } from '../fail.ts'
import { cell, printJson, say, table } from '../output/table.ts'

const which = { org: { type: 'positional', required: true, description: 'Number or name of the organization' } } as const

export const listOrganizations = action({
  name: 'list',
  description: 'List organizations.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const orgs = await readTenants(given, ({ call }) => call<{ data: Organization[] }>('GET', '/api/orgs'))
    if (given.json) return printJson(orgs)
    const rows = orgs.data.map(({ id, name, suspended, members, created_at, managed_by }) => [
      id,
      name,
      suspended ? 'suspended' : 'active',
      members,
      created_at,
      managed_by,
    ])
    console.log(
      table(
        ['ID', 'NAME', 'STATE', 'MEMBERS', 'CREATED', 'FROM'],
        rows.map((row) => row.map(cell)),
      ),
    )
  },
})

export const create = action({
  name: 'create',
  description: 'Create an organization.',
  args: {
    name: { type: 'positional', required: true, description: 'Name of the organization' },
    owner: { type: 'string', description: 'E-mail address of the owner, who has an account', valueHint: 'email' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { owner: 'owner' },
  async run(given) {
    const body = { name: given.name, owner: given.owner }
    const made = await withTenants(given, ({ call }) => call<Organization>('POST', '/api/orgs', body))
    if (given.json) printJson(made)
    else say.success(`Organization ${made.id} (${made.name}) is created.`)
  },
})

export const suspend = action({
  name: 'suspend',
  description: 'Suspend an organization: its client keys are refused on running servers within two seconds.',
  args: { ...which, ...JSON_FLAG, ...PLANE },
  run: (given) => change(given, 'suspend'),
})

export const resume = action({
  name: 'resume',
  description: 'Resume a suspended organization.',
  args: { ...which, ...JSON_FLAG, ...PLANE },
  run: (given) => change(given, 'resume'),
})

async function change(given: Place & { org: string; json?: boolean | undefined }, act: 'suspend' | 'resume'): Promise<void> {
  const org = await withTenants(given, async (plane) =>
    plane.call<Organization>('POST', `/api/orgs/${(await organizationOf(plane, given.org)).id}/${act}`),
  )
  if (given.json) printJson(org)
  else say.success(`Organization ${org.id} (${org.name}) is ${org.suspended ? 'suspended' : 'active'}.`)
}

export const remove = action({
  name: 'delete',
  description: 'Delete an organization with everything in it. Its export is written first.',
  args: {
    ...which,
    confirm: { type: 'string', description: 'The name of the organization, because this cannot be undone', valueHint: 'name' },
    out: { type: 'string', description: 'File for the export; default: standard output', valueHint: 'file' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { confirm: 'confirm' },
  async run(given) {
    const confirm = given.confirm ?? failUsage('`--confirm`: give the name of the organization; this cannot be undone.')
    const { open } = await import('node:fs/promises')
    // Opened before the deletion: a file that cannot be written must not cost the export.
    const file = given.out === undefined ? null : await open(given.out, 'wx', 0o600)
    try {
      const { org, answer } = await withTenants(given, async (plane) => {
        const org = await organizationOf(plane, given.org)
        return { org, answer: await plane.call<{ export: unknown }>('DELETE', `/api/orgs/${org.id}`, { confirm }) }
      })
      const text = `${JSON.stringify(answer.export, null, 2)}\n`
      if (file !== null) await file.writeFile(text)
      if (given.json) return printJson(answer)
      say.success(`Organization ${org.id} (${org.name}) is deleted.`)
      if (file === null) process.stdout.write(text)
    } finally {
      await file?.close()
    }
  },
})
