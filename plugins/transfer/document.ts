// The schema of an export document and of its rows.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PortableKind, PortableRow } from '../../core/types/plugin/portable.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { sealedSecrets } from './sealed-secrets.ts'

/** Version of the document. It increases when an older gateway could not read it. */
export const FORMAT = 1

const row = z.strictObject({
  name: z.string().min(1).max(3000),
  data: z.record(z.string().max(100), z.unknown()),
})
const skipped = z.strictObject({ kind: z.string(), name: z.string(), reason: z.string() })

export const exportDocument = z.strictObject({
  hookgate_export: z.int().min(1).meta({ maximum: FORMAT }).describe('Version of the document.'),
  version: z.string().max(100).describe('The version of hookgate that wrote it.'),
  created_at: z.string().max(100),
  rows: z.record(z.string().max(100), z.array(row).max(20_000)),
  secrets: sealedSecrets.nullable(),
  skipped: z.array(skipped).max(100_000).describe('Rows that are not in the document, and why.'),
})
export type ExportDocument = z.output<typeof exportDocument>

/** Names the rows of one kind uniquely: the second `openai/main` becomes `openai/main#2`. */
export function byName(rows: readonly PortableRow[]): Map<string, PortableRow> {
  const named = new Map<string, PortableRow>()
  for (const row of rows) {
    let name = row.name
    for (let count = 2; named.has(name); count++) name = `${row.name}#${count}`
    named.set(name, { ...row, name })
  }
  return named
}

/** @throws GatewayError 400 for a document of a newer version, and for a kind that no plugin has. */
export function refuseForeign({ hookgate_export, version, rows }: ExportDocument, kinds: readonly PortableKind[]): void {
  if (hookgate_export > FORMAT)
    throw GatewayError.invalid(
      'document.hookgate_export',
      `The document has format ${hookgate_export}, written by hookgate ${version}; this one reads up to ${FORMAT}. Update this gateway first.`,
    )
  const unknown = Object.keys(rows).find((name) => !kinds.some(({ kind }) => kind === name))
  if (unknown !== undefined)
    throw GatewayError.invalid(
      `document.rows.${unknown}`,
      `No plugin here has rows of the kind \`${unknown}\`. There are: ${kinds.map(({ kind }) => kind).join(', ')}. Add the plugin, or remove these rows.`,
    )
}

/** Returns the error with its `param` below its row. */
export function inRow(error: GatewayError, kind: string, index: number): GatewayError {
  const at = `document.rows.${kind}.${index}`
  return error.with({ param: error.param === null ? at : `${at}.data.${error.param}`, message: `${at}: ${error.message}` })
}

/** Equal values give equal text, in any order of their members. */
export function sortedText(value: Json | Readonly<Record<string, Json>>): string {
  return JSON.stringify(value, (_member, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inside,
  )
}
