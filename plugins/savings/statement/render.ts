// Writes a statement as Markdown or CSV. Amounts have all nine digits, so that they can be added up by hand.
import { csvText } from '../../../core/text/csv-text.ts'
import type { Amount, Line, Statement } from './statement.ts'

/** USD with nine digits behind the point: `-0.000000001`. */
export function exactUsd(nano: number): string {
  const digits = String(Math.abs(nano)).padStart(10, '0')
  return `${nano < 0 ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

export function markdown(statement: Statement): string {
  const { month, zone, since, until, at, chain, lines, measured, estimated, total } = statement
  const verified = chain.ok
    ? `All ${chain.count} receipts of the chain were verified.`
    : `**The chain of receipts is broken at ${chain.first_bad_seq}: do not rely on these figures.**`
  return [
    `# Savings of ${month}`,
    `From ${time(since)} to ${time(until)}, a calendar month in ${zone}. Written at ${time(at)}.`,
    ...notes(statement),
    verified,
    '| Source | Method | Basis | Receipts | Tokens saved | USD saved |\n| --- | --- | --- | ---: | ---: | ---: |\n' +
      [
        ...lines.map((line) => row([code(line.source), code(line.method), line.basis, ...amounts(line)])),
        row(['Measured', '', '', ...amounts(measured)]),
        row(['Estimated', '', '', ...amounts(estimated)]),
        row(['**Total**', '', '', ...amounts(total)]),
      ].join('\n'),
    '## Baselines',
    lines.length === 0 ? 'Nothing was saved.' : baselines(lines),
    '`measured` comes from the provider’s own token counts. `tokenizer` comes from the gateway’s counts, and `counterfactual` from the cost of a choice that was not made: both are estimates.',
  ]
    .join('\n\n')
    .concat('\n')
}

export function csv(statement: Statement): string {
  const { month, zone, since, until, chain, lines, total } = statement
  const head = ['month', 'timezone', 'since', 'until', 'source', 'method', 'basis', 'baseline', 'receipts', 'unpriced_receipts']
  const both = [...head, 'tokens_saved', 'usd_saved', 'usd_saved_nano', 'chain_verified']
  const cells = (line: Amount & Partial<Line>, source: string) =>
    [
      ...[month, zone, time(since), time(until), source, line.method ?? '', line.basis ?? '', line.baseline ?? ''].map(csvText),
      ...[line.receipts, line.unpriced ?? '', line.tokensSaved, exactUsd(line.nano), line.nano, chain.ok],
    ].join(',')
  return [both.join(','), ...lines.map((line) => cells(line, line.source)), cells(total, 'total')].join('\r\n').concat('\r\n')
}

function notes({ over, keptSince }: Statement): string[] {
  return [
    ...(over ? [] : ['The month is not over: more receipts will come.']),
    ...(keptSince === null
      ? []
      : [
          `Receipts before ${time(keptSince)} may have been deleted: this month is not whole. GATEWAY_USAGE_RETENTION_DAYS sets how long they are kept.`,
        ]),
  ]
}

function baselines(lines: readonly Line[]): string {
  const known = new Map(lines.map(({ source, baseline }) => [source, baseline]))
  const unpriced = lines.reduce((sum, line) => sum + line.unpriced, 0)
  return [
    ...[...known].map(([source, baseline]) => `- ${code(source)}: ${baseline}`),
    ...(unpriced === 0 ? [] : [`- ${unpriced} receipts have no known price: their tokens count, and no money does.`]),
  ].join('\n')
}

const amounts = ({ receipts, tokensSaved, nano }: Amount): string[] => [String(receipts), String(tokensSaved), exactUsd(nano)]
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const time = (at: number): string => new Date(at).toISOString()

/** Names of sources and methods come from plugins. */
function code(name: string): string {
  return `\`${name.replaceAll(/[`|\r\n]/g, '')}\``
}
