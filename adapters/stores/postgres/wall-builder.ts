// Builds the wall between organizations: role, grants and policies. It leaves complete tables alone, because changing a table's policies
// waits for its readers.
import { sql } from '../../../core/db/sql.ts'
import type { WallState, WallTables } from '../../../core/types/ports/db.ts'
import type { Session } from '../session.ts'
import { belongingPolicy, closedPolicy, isOurs, ownPolicy, type Policy, quoted, TENANT_ROLE } from './policies.ts'

interface Login {
  /** Policies do not bind it. */
  readonly bypasses: boolean
  readonly superuser: boolean
  readonly creates: boolean
}

interface Table {
  readonly name: string
  readonly ours: boolean
  readonly owned: boolean
  readonly secured: boolean
  readonly forced: boolean
  readonly granted: boolean
  readonly policies: string
}

/** Runs in a transaction. Rejects only when the engine cannot be used. */
export async function standingWall(session: Session, tables: WallTables): Promise<WallState> {
  await session.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('gateway:wall', 0))`)
  const login = await loginOf(session)
  const refused = await roleRefused(session, login)
  if (refused !== null && login.bypasses)
    return { by: null, reason: `${refused} The user of the gateway bypasses row-level security, so policies alone hide nothing.` }
  const all = await tablesOf(session, tables.prefixes)
  const foreign = all.find((table) => table.owned && !table.ours && !isComplete(table, refused === null))
  if (foreign !== undefined)
    return {
      by: null,
      reason: `The table \`${foreign.name}\` belongs to another user of PostgreSQL: only its owner can add policies.`,
    }
  for (const table of all) await protect(session, table, all, tables, refused === null)
  return refused === null ? { by: 'role' } : { by: 'owner', reason: refused }
}

async function loginOf(session: Session): Promise<Login> {
  const { rows } = await session.query(sql`
    SELECT rolsuper AS superuser, rolcreaterole AS creates, rolbypassrls AS bypass FROM pg_roles WHERE rolname = current_user`)
  const { superuser, creates, bypass } = rows[0] as Record<string, number>
  return { superuser: superuser === 1, creates: creates === 1, bypasses: superuser === 1 || bypass === 1 }
}

/** Returns why the gateway cannot take the role; null when it can. Creates the role where that is allowed. */
async function roleRefused(session: Session, login: Login): Promise<string | null> {
  const help = `Let an administrator run: CREATE ROLE ${TENANT_ROLE} NOLOGIN; GRANT ${TENANT_ROLE} TO <user of the gateway>.`
  const role = await tenantRole(session)
  if (role === undefined) {
    if (!login.superuser && !login.creates) return `The user of the gateway may not create roles. ${help}`
    const failed = await attempted(session, `CREATE ROLE ${TENANT_ROLE} NOLOGIN NOINHERIT`)
    // Another gateway on the same server may have created it in the meantime.
    if (failed !== null && (await tenantRole(session)) === undefined) return `The role cannot be created: ${failed}. ${help}`
  } else if (role.strong === 1) {
    return `The role ${TENANT_ROLE} bypasses row-level security: ALTER ROLE ${TENANT_ROLE} NOSUPERUSER NOBYPASSRLS.`
  }
  if (!login.superuser && !(await isMember(session))) {
    const failed = await attempted(session, `GRANT ${TENANT_ROLE} TO CURRENT_USER`)
    if (failed !== null) return `The user of the gateway may not take the role ${TENANT_ROLE}: ${failed}. ${help}`
  }
  const failed = await attempted(session, `SET LOCAL ROLE ${TENANT_ROLE}; RESET ROLE`)
  if (failed !== null) return `The user of the gateway may not take the role ${TENANT_ROLE}: ${failed}. ${help}`
  return schemaRefused(session)
}

/** Every role may use the schema `public`; another one, or a hardened `public`, has to be opened for the role. */
async function schemaRefused(session: Session): Promise<string | null> {
  const schema = await schemaOf(session)
  if (schema.open) return null
  const grant = `GRANT USAGE ON SCHEMA ${quoted(schema.name)} TO ${TENANT_ROLE}`
  await attempted(session, grant)
  // Without the right to grant, PostgreSQL only warns.
  if ((await schemaOf(session)).open) return null
  return `The role ${TENANT_ROLE} may not use the schema \`${schema.name}\`. Let its owner run: ${grant}.`
}

async function schemaOf(session: Session): Promise<{ name: string; open: boolean }> {
  const { rows } = await session.query(
    sql`SELECT current_schema() AS name, has_schema_privilege(${TENANT_ROLE}, current_schema(), 'USAGE') AS open`,
  )
  const { name, open } = rows[0] as { name: string; open: number }
  return { name, open: open === 1 }
}

async function tenantRole(session: Session): Promise<{ strong: number } | undefined> {
  const { rows } = await session.query(
    sql`SELECT (rolsuper OR rolbypassrls) AS strong FROM pg_roles WHERE rolname = ${TENANT_ROLE}`,
  )
  return rows[0] as { strong: number } | undefined
}

async function isMember(session: Session): Promise<boolean> {
  const { rows } = await session.query(sql`SELECT pg_has_role(current_user, ${TENANT_ROLE}, 'MEMBER') AS member`)
  return (rows[0] as { member: number }).member === 1
}

/** Returns the error's message; null when it worked. The transaction continues either way. */
async function attempted(session: Session, text: string): Promise<string | null> {
  await session.command('SAVEPOINT attempt')
  try {
    await session.command(text)
    await session.command('RELEASE SAVEPOINT attempt')
    return null
  } catch (error) {
    await session.command('ROLLBACK TO SAVEPOINT attempt', 'RELEASE SAVEPOINT attempt')
    return (error as Error).message
  }
}

async function tablesOf(session: Session, prefixes: readonly string[]): Promise<Table[]> {
  const { rows } = await session.query(sql`
    SELECT c.relname AS name, c.relrowsecurity AS secured, c.relforcerowsecurity AS forced,
      pg_has_role(current_user, c.relowner, 'USAGE') AS ours,
      EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped) AS owned,
      EXISTS (SELECT 1 FROM aclexplode(c.relacl) g JOIN pg_roles r ON r.oid = g.grantee
        WHERE r.rolname = ${TENANT_ROLE} AND g.privilege_type = 'DELETE') AS granted,
      coalesce((SELECT string_agg(polname, ',') FROM pg_policy p WHERE p.polrelid = c.oid), '') AS policies
    FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`)
  return rows.flatMap((row) => {
    const { name, policies, ...flags } = row as Record<string, unknown> & { name: string; policies: string }
    if (!prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}_`))) return []
    const { secured, forced, ours, owned, granted } = flags
    return [
      {
        name,
        policies,
        secured: secured === 1,
        forced: forced === 1,
        ours: ours === 1,
        owned: owned === 1,
        granted: granted === 1,
      },
    ]
  })
}

function isComplete(table: Table, byRole: boolean): boolean {
  return (
    table.secured && table.policies.split(',').includes(ownPolicy(table.name).name) && (byRole ? table.granted : table.forced)
  )
}

async function protect(
  session: Session,
  table: Table,
  all: readonly Table[],
  { belonging }: WallTables,
  byRole: boolean,
): Promise<void> {
  const name = quoted(table.name)
  const texts: string[] = []
  const wanted = policyOf(table, all, belonging[table.name])
  if (wanted !== null) {
    const standing = table.policies.split(',').filter(isOurs)
    for (const old of standing) if (old !== wanted.name) texts.push(`DROP POLICY ${quoted(old)} ON ${name}`)
    if (!standing.includes(wanted.name)) texts.push(wanted.create)
    if (!table.secured) texts.push(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`)
    // The owner is bound only where there is no role: it would cost every statement of the gateway itself.
    if (table.forced === byRole) texts.push(`ALTER TABLE ${name} ${byRole ? 'NO FORCE' : 'FORCE'} ROW LEVEL SECURITY`)
  }
  if (byRole && !table.granted && table.ours) texts.push(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${name} TO ${TENANT_ROLE}`)
  if (texts.length > 0) await session.command(...texts)
}

function policyOf(table: Table, all: readonly Table[], belongs: WallTables['belonging'][string] | undefined): Policy | null {
  if (table.owned) return ownPolicy(table.name)
  if (belongs === undefined) return null
  return all.some(({ name, owned }) => name === belongs.table && owned)
    ? belongingPolicy(table.name, belongs)
    : closedPolicy(table.name)
}
