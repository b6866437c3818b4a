// POST /api/export and POST /api/import: the rows that were created through the API, as one document.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PortableRow } from '../../core/types/portable.ts'
import { VERSION } from '../../core/version.ts'
import { byName, type ExportDocument, exportDocument, FORMAT } from './document.ts'
import { importRows } from './import.ts'
import { open, type Secrets, seal } from './sealed-secrets.ts'

const passphrase = z.string().min(12, 'must have at least 12 characters').max(1000)

const importStep = z.strictObject({
  kind: z.string(),
  name: z.string(),
  action: z.enum(['create', 'update', 'unchanged', 'skip']),
  changes: z.array(z.string()).describe('Members that differ; empty for new rows.'),
  reason: z.string().nullable().describe('The reason for a skipped row, or a remark on a written row.'),
})

export const transfer = definePlugin({
  name: 'transfer',
  requires: ['portable'],
  setup(gateway) {
    const portable = gateway.use('portable')
    const configuration = gateway.use('configuration')

    gateway.api({
      method: 'POST',
      path: '/api/export',
      summary: 'The rows that were made through the API, without ids. With a passphrase also their secrets, sealed under it.',
      // The document contains settings of the whole gateway.
      role: 'system',
      body: z.strictObject({ passphrase: passphrase.nullable().optional() }),
      response: exportDocument,
      audit: 'gateway.export',
      async handler({ body, orgId, audited }) {
        const given = body.passphrase ?? null
        const rows: Record<string, ExportDocument['rows'][string]> = {}
        const secrets: Record<string, Record<string, Readonly<Record<string, string>>>> = {}
        const skipped: ExportDocument['skipped'] = []
        for (const source of portable.kinds()) {
          const { kind } = source
          const kept = [...byName(await portable.rows(source, orgId)).values()].filter((row) => {
            const reason = left(row, given !== null)
            if (reason !== null) skipped.push({ kind, name: row.name, reason })
            return reason === null
          })
          rows[kind] = kept.map(({ name, data }) => ({ name, data }))
          secrets[kind] = Object.fromEntries(kept.filter(hasSecrets).map((row) => [row.name, row.secrets]))
        }
        const count = Object.values(rows).reduce((sum, { length }) => sum + length, 0)
        audited('*', { rows: count, secrets: given !== null })
        return {
          hookgate_export: FORMAT,
          version: VERSION,
          created_at: new Date(gateway.clock.now()).toISOString(),
          rows,
          secrets: given === null ? null : await seal(secrets, given),
          skipped,
        }
      },
    })

    gateway.api({
      method: 'POST',
      path: '/api/import',
      summary: 'Creates and changes the rows of an export, all of them or none. Rows that the configuration file owns stay.',
      role: 'system',
      body: z.strictObject({
        document: exportDocument,
        passphrase: passphrase.nullable().optional(),
        dry_run: z.boolean().optional().describe('True: only says what would change, with every check of the import.'),
      }),
      response: z.strictObject({ data: z.array(importStep) }),
      audit: 'gateway.import',
      async handler({ body: { document, passphrase: given = null, dry_run = false }, orgId, operator, audited }) {
        if (configuration.exclusive.length > 0 && !dry_run)
          for (const section of configuration.exclusive) refuseExclusiveRows(section, document)
        const secrets = await opened(document, given)
        const steps = await importRows({ portable, orgId, actor: operator.actor, document, secrets, dryRun: dry_run })
        const changed = steps.filter(({ action }) => action === 'create' || action === 'update').length
        audited('*', { rows: steps.length, changed, dry_run })
        return { data: steps.map((step) => ({ ...step, changes: [...step.changes] })) }
      },
    })
  },
})

export default transfer

function left(row: PortableRow, withSecrets: boolean): string | null {
  if (row.managedBy === 'config') return 'gateway.config.ts owns it'
  return row.needsSecrets === true && !withSecrets ? 'it is made of a secret; export with a passphrase' : null
}

function hasSecrets({ secrets }: PortableRow): boolean {
  return Object.keys(secrets).length > 0
}

/** @throws GatewayError 400 when one of the two is missing, or they do not match. */
async function opened({ secrets }: ExportDocument, given: string | null): Promise<Secrets> {
  if (given === null) return {}
  if (secrets === null)
    throw GatewayError.invalid('passphrase', '`passphrase`: the document has no secrets; leave the passphrase out.')
  return open(secrets, given)
}

/** @throws GatewayError 409. */
function refuseExclusiveRows(section: string, { rows }: ExportDocument): void {
  const kind = section.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if ((rows[kind]?.length ?? 0) === 0) return
  throw new GatewayError(
    `Only gateway.config.ts may have rows of \`${section}\` here. Remove \`rows.${kind}\` from the document.`,
    {
      status: 409,
      type: 'invalid_request_error',
      code: 'managed_by_config',
      param: `document.rows.${kind}`,
    },
  )
}
