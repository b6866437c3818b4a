// Builds the export document: the rows that were created through the API, without ids.
import type { PortableRow, PortableService } from '../../core/types/plugin/portable.ts'
import { VERSION } from '../../core/version.ts'
import { byName, type ExportDocument, FORMAT } from './document.ts'
import { seal } from './sealed-secrets.ts'

/** The document of an organization leaves out what belongs to the whole gateway. `passphrase` null: without secrets. */
export async function exported(
  portable: PortableService,
  { orgId, passphrase, now }: { orgId: number | null; passphrase: string | null; now: number },
): Promise<ExportDocument> {
  const rows: Record<string, ExportDocument['rows'][string]> = {}
  const secrets: Record<string, Record<string, Readonly<Record<string, string>>>> = {}
  const skipped: ExportDocument['skipped'] = []
  for (const source of portable.kinds()) {
    const { kind } = source
    if (orgId !== null && source.global === true) continue
    const kept = [...byName(await portable.rows(source, orgId)).values()].filter((row) => {
      const reason = left(row, passphrase !== null)
      if (reason !== null) skipped.push({ kind, name: row.name, reason })
      return reason === null
    })
    rows[kind] = kept.map(({ name, data }) => ({ name, data }))
    secrets[kind] = Object.fromEntries(kept.filter(hasSecrets).map((row) => [row.name, row.secrets]))
  }
  return {
    hookgate_export: FORMAT,
    version: VERSION,
    created_at: new Date(now).toISOString(),
    rows,
    secrets: passphrase === null ? null : await seal(secrets, passphrase),
    skipped,
  }
}

function left(row: PortableRow, withSecrets: boolean): string | null {
  if (row.managedBy === 'config') return 'gateway.config.ts owns it'
  return row.needsSecrets === true && !withSecrets ? 'it is made of a secret; export with a passphrase' : null
}

function hasSecrets({ secrets }: PortableRow): boolean {
  return Object.keys(secrets).length > 0
}
