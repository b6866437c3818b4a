// Makes the database match the configuration file when an operator asks for it, and writes an audit entry for each change. A start makes
// the same changes without entries, because no operator asked for them.
import type { ViewHub } from '../db/views.ts'
import type { AuditLog } from '../services.ts'
import { wordsOf } from '../text/error-text.ts'
import type { ResourceKind } from '../types/plugin/resource.ts'
import type { Database } from '../types/ports/db.ts'
import type { Logger } from '../types/ports/ports.ts'
import { type PlanStep, reconcile, type Sections } from './reconcile.ts'

interface Kinds {
  readonly resources: readonly ResourceKind[]
  service(token: string): unknown
}

interface Place {
  readonly db?: Database | undefined
  readonly views?: ViewHub | undefined
  readonly log: Logger
}

/**
 * @param actor of the audit entries.
 * @throws Error for an invalid entry, and for a name that a row of the API already has.
 */
export async function applyFile(
  { resources, service }: Kinds,
  sections: Sections,
  { db, views, log }: Place,
  actor = 'host',
): Promise<readonly PlanStep[]> {
  if (db === undefined || views === undefined) return []
  const steps = await reconcile(resources, sections, db, views)
  const audit = service('audit') as AuditLog | undefined
  if (audit === undefined) return steps
  // The changes are made, and a second call would find nothing to enter.
  await Promise.all(steps.map((step) => audit.append(entryOf(step, actor)))).catch((error: unknown) =>
    log.error('audit.failed', { action: 'config', error: wordsOf(error) }),
  )
  return steps
}

function entryOf({ section, key, name, action, id, changes }: PlanStep, actor: string): Parameters<AuditLog['append']>[0] {
  return {
    orgId: null,
    actor,
    action: `config.${action}`,
    target: `${section}.${key}`,
    // By member, so that secrets are recognised by their names.
    details: {
      name,
      ...(id !== null && { id }),
      changes: Object.fromEntries(changes.map(({ member, from, to }) => [member, { from, to }])),
    },
    ip: null,
  }
}
