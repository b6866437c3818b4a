// Writes the table of operations in docs/conformance.md from what one run has measured.
import { OPERATIONS_HEADING } from '../conformance/document.ts'

export interface MeasuredRow {
  readonly operation: string
  readonly codec: string
  readonly provider: string
  /** By fault; '' is the success. */
  readonly cells: Map<string, { sign?: string; status?: number; moves?: boolean }>
}

export function operationsPart(rows: readonly MeasuredRow[], faults: readonly string[]): string {
  const head = ['operation', 'wire format', 'success', ...faults]
  const lines = rows.map(({ operation, codec, provider, cells }) => {
    const cell = (what: string): string => {
      const found = cells.get(what)
      if (found?.status === undefined) throw new Error(`No cell of ${operation} at ${codec} was measured for ${what}.`)
      return `${found.moves === true ? '↷' : '✗'} ${found.status}`
    }
    const format = codec === provider ? codec : `${codec} (as \`${provider}\`)`
    return [`\`${operation}\``, format, cells.get('')?.sign ?? '?', ...faults.map(cell)]
  })
  const row = (columns: readonly string[]): string => `| ${columns.join(' | ')} |`
  return [
    OPERATIONS_HEADING,
    '',
    '<!-- Written by test/operations/faults.test.ts. Do not edit: run `npx vitest run test/operations/faults.test.ts`. -->',
    '',
    `Every operation besides chat, at every wire format of a vendor, with every way an upstream fails: ${rows.length * (faults.length + 1)} cells, each one`,
    'measured through a gateway and a scripted vendor.',
    '',
    '| sign | class | meaning |',
    '|---|---|---|',
    '| ✓ | lossless | The caller got the vendor’s answer byte for byte. |',
    '| ⇄ | converted | The vendor’s answer was converted to the caller’s format. |',
    '| ↷ | next connection | The next connection answers. When none is left, the caller gets this status. |',
    '| ✗ | refused | The caller gets this status at once; no other connection is asked. |',
    '',
    row(head),
    row(head.map(() => '---')),
    ...lines.map(row),
    '',
  ].join('\n')
}
