// Writes docs/conformance.md from the cells of one run, without date and time, so that it changes only with the behaviour.
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { Class, Outcome } from './cell.ts'
import type { Feature } from './features/feature.ts'
import { DIALECTS } from './neutral.ts'
import { type OperationResult, operationNotes, operationReport } from './operations/report.ts'
import { NOTES } from './represent.ts'
import { SIGNS } from './signs.ts'
import { MODELS, REASONING_MODELS } from './world.ts'

export interface CellResult {
  caller: Dialect
  upstream: Dialect
  feature: string
  stream: boolean
  outcome: Outcome
}

const CLASSES: readonly Class[] = ['lossless', 'converted', 'warned', 'refused']

const CALLERS: Readonly<Record<Dialect, string>> = {
  chat: 'chat-completions (`openai` SDK, `/v1/chat/completions`)',
  messages: 'messages (`@anthropic-ai/sdk`, `/v1/messages`)',
  responses: 'responses (`openai` SDK, `/v1/responses`)',
  generate_content: 'generate-content (`@google/genai`, `/v1beta/models/{model}:generateContent`)',
}
const NAMES: Readonly<Record<Dialect, string>> = {
  chat: 'chat-completions',
  messages: 'messages',
  responses: 'responses',
  generate_content: 'generate-content',
}

export function report(
  results: readonly CellResult[],
  features: readonly Feature[],
  operations: readonly OperationResult[],
): string {
  const notes = noteNumbers(results)
  return [
    ...head(results),
    ...DIALECTS.flatMap((caller) => table(caller, results, features, notes)),
    ...totals(results),
    ...operationReport(operations, notes.size + 1),
    ...footnotes(notes),
  ].join('\n')
}

function head(results: readonly CellResult[]): string[] {
  const reasoning = DIALECTS.filter((dialect) => REASONING_MODELS[dialect] !== MODELS[dialect]).map(
    (dialect) => `\`${REASONING_MODELS[dialect]}\` for reasoning behind ${NAMES[dialect]}`,
  )
  return [
    '# Conformance',
    '',
    '<!-- Written by test/conformance/matrix.test.ts. Do not edit: run `npx vitest run test/conformance`. -->',
    '',
    `This matrix shows what a client of one wire format gets from a vendor of another: ${results.length} cells, each one measured. The official`,
    'SDK of the caller sends a request through a listening gateway to a scripted vendor; what the vendor received and what the SDK returned are',
    'both compared, value by value, with the intended values. The test computes the sign of each cell, and fails when it is not',
    'the expected one.',
    '',
    '| sign | class | meaning |',
    '|---|---|---|',
    '| ✓ | lossless | Both sides got exactly the intended values; between equal wire formats also byte for byte, except the model’s name. |',
    '| ⇄ | converted | Converted to another form by the rule in the note with this number; the note names anything the form cannot hold. |',
    '| ⚠ | warned | A part was dropped or changed: the answer’s `x-gateway-warnings` header has the slug shown. |',
    '| ✗ | refused | 400 `unsupported_for_target` with the param shown, before any upstream call; a virtual model tries its next target. |',
    '',
    'Two signs: not streamed / streamed. One sign: both alike. A class of several turns is that of the weakest.',
    '',
    `Vendors: ${DIALECTS.map((dialect) => `${NAMES[dialect]} as \`${MODELS[dialect]}\``).join(', ')}; ${reasoning.join(', ')}.`,
    '',
  ]
}

function table(
  caller: Dialect,
  results: readonly CellResult[],
  features: readonly Feature[],
  notes: ReadonlyMap<string, number>,
): string[] {
  const rows = features.map(({ id, title }) => {
    const cells = DIALECTS.map((upstream) => {
      const pair = [false, true].map((stream) => {
        const found = results.find(
          (cell) => cell.caller === caller && cell.upstream === upstream && cell.feature === id && cell.stream === stream,
        )
        if (found === undefined) throw new Error(`No result for ${caller} → ${upstream} ${id}.`)
        return sign(found.outcome, notes)
      })
      return pair[0] === pair[1] ? pair[0] : pair.join(' / ')
    })
    return `| ${title} | ${cells.join(' | ')} |`
  })
  return [
    `## Caller: ${CALLERS[caller]}`,
    '',
    `| feature | ${DIALECTS.map((upstream) => `→ ${NAMES[upstream]}`).join(' | ')} |`,
    `|---|${DIALECTS.map(() => '---|').join('')}`,
    ...rows,
    '',
  ]
}

function sign({ class: of, detail }: Outcome, notes: ReadonlyMap<string, number>): string {
  if (of === 'lossless') return SIGNS.lossless
  if (of === 'converted') return `${SIGNS.converted} ${detail.map((note) => `[${notes.get(note)}](#notes)`).join(' ')}`
  return `${SIGNS[of]} ${detail.map((word) => `\`${word}\``).join(' ')}`
}

function totals(results: readonly CellResult[]): string[] {
  const count = (of: Class, upstream?: Dialect, caller?: Dialect) =>
    results.filter(
      (cell) =>
        cell.outcome.class === of &&
        (upstream === undefined || cell.upstream === upstream) &&
        (caller === undefined || cell.caller === caller),
    ).length
  const row = (label: string, upstream?: Dialect, caller?: Dialect) =>
    `| ${label} | ${CLASSES.map((of) => count(of, upstream, caller)).join(' | ')} |`
  const pairs = DIALECTS.flatMap((caller) =>
    DIALECTS.map((upstream) => row(`${NAMES[caller]} → ${NAMES[upstream]}`, upstream, caller)),
  )
  return [
    '## Totals',
    '',
    `| pair | ${CLASSES.map((of) => `${SIGNS[of]} ${of}`).join(' | ')} |`,
    '|---|--:|--:|--:|--:|',
    ...pairs,
    row('**all**'),
    '',
  ]
}

function noteNumbers(results: readonly CellResult[]): ReadonlyMap<string, number> {
  const used = new Set(results.flatMap(({ outcome }) => (outcome.class === 'converted' ? outcome.detail : [])))
  return new Map(
    Object.keys(NOTES)
      .filter((note) => used.has(note))
      .map((note, index) => [note, index + 1]),
  )
}

function footnotes(notes: ReadonlyMap<string, number>): string[] {
  const texts = [...[...notes.keys()].map((note) => NOTES[note as keyof typeof NOTES]), ...operationNotes()]
  return ['## Notes', '', ...texts.map((text, at) => `${at + 1}. ${text}`), '']
}
