// The operations' part of docs/conformance.md: a table for each operation, a row for each codec.
import { operations } from '../../../adapters/operations/index.ts'
import { SIGNS } from '../signs.ts'
import { COLUMNS, type Column, type OperationOutcome } from './cell.ts'
import { OPERATION_NOTES, type OperationNote } from './notes.ts'
import { OPERATION_CASES } from './requests.ts'
import { CODEC_CASES, type CodecCase } from './world.ts'

export interface OperationResult extends CodecCase {
  column: Column
  outcome: OperationOutcome
}

export function operationReport(results: readonly OperationResult[], firstNote: number): string[] {
  const notes = new Map(Object.keys(OPERATION_NOTES).map((note, at) => [note, firstNote + at]))
  return [...head(results), ...operations.flatMap(({ id }) => table(id, results, notes))]
}

export function operationNotes(): string[] {
  return Object.values(OPERATION_NOTES)
}

function head(results: readonly OperationResult[]): string[] {
  return [
    '## Operations',
    '',
    `The [endpoints besides chat](endpoints.md) have one caller format each, and a codec for each vendor format: ${results.length} more cells, each one measured.`,
    'A request goes through a listening gateway to a scripted vendor that answers, or fails in the way of the column. The signs are those above. In',
    'a column of a failure, ✓ means that the vendor’s status and message reach the caller, and ⇄ that the caller gets the status shown by the rule',
    'in the note. The failure meets the first connection and every further one, so that the caller sees it.',
    '',
    '| column | vendor |',
    '|---|---|',
    '| success | answers the request |',
    '| 400, 401, 429, 500 | refuses it with this status |',
    '| timeout | takes the request and sends nothing |',
    '| cut | closes its connection in the middle of the answer |',
    '| malformed | sends half a JSON text with status 200 |',
    '| next connection | the columns after which the gateway tried the next connection of the provider |',
    '',
  ]
}

function table(operation: string, results: readonly OperationResult[], notes: ReadonlyMap<string, number>): string[] {
  const { path, members, file } = OPERATION_CASES[operation as keyof typeof OPERATION_CASES]
  const names = [...Object.keys(members), ...(file === undefined ? [] : [file.field])].map((name) => `\`${name}\``)
  const rows = CODEC_CASES.filter((of) => of.operation === operation).map(({ codec }) => {
    const outcomes = COLUMNS.map((column) => {
      const found = results.find((one) => one.operation === operation && one.codec === codec && one.column === column)
      if (found === undefined) throw new Error(`No result for ${operation} → ${codec}, ${column}.`)
      return found.outcome
    })
    const tried = COLUMNS.filter((_column, at) => outcomes[at]?.next)
    return `| → ${codec} | ${outcomes.map((outcome) => cell(outcome, notes)).join(' | ')} | ${tried.join(', ') || 'none'} |`
  })
  return [
    `### ${operation} (\`${path}\` with ${names.join(', ')})`,
    '',
    `| codec | ${COLUMNS.join(' | ')} | next connection |`,
    `|---|${COLUMNS.map(() => '---|').join('')}---|`,
    ...rows,
    '',
  ]
}

function cell({ class: of, detail, status }: OperationOutcome, notes: ReadonlyMap<string, number>): string {
  const said = status === 200 ? '' : ` ${status}`
  if (of === 'lossless') return SIGNS.lossless + said
  if (of !== 'converted') return `${SIGNS[of]} ${detail.map((word) => `\`${word}\``).join(' ')}`
  return `${SIGNS.converted}${said} ${detail.map((note) => `[${notes.get(note as OperationNote)}](#notes)`).join(' ')}`
}
