// POST /api/export and POST /api/import: the rows that were created through the API, as one document.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { type ExportDocument, exportDocument } from './document.ts'
import { exported } from './export.ts'
import { importRows } from './import.ts'
import { open, type Secrets } from './sealed-secrets.ts'
import type { TransferService } from './service.ts'

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
    const service: TransferService = {
      document: (orgId) => exported(portable, { orgId, passphrase: null, now: gateway.clock.now() }),
    }
    gateway.provide('transfer', service)

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
        const document = await exported(portable, { orgId, passphrase: given, now: gateway.clock.now() })
        const count = Object.values(document.rows).reduce((sum, { length }) => sum + length, 0)
        audited('*', { rows: count, secrets: given !== null })
        return document
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
