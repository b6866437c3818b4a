// Plain tables for a terminal: columns as wide as their content, the last one free; colours where there is one.
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** `styles`: by the text of a cell. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  styles: Readonly<Record<string, Style>> = {},
): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], dress: (cell: string) => string = (cell) => styled(cell, styles[cell])) =>
    cells
      .map((cell, column) => {
        const padding = column === cells.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - cell.length)
        return dress(cell) + padding
      })
      .join('  ')
  return [
    line(head, (title) => styled(title, 'bold')),
    line(
      head.map((title) => '─'.repeat(title.length)),
      (rule) => styled(rule, 'dim'),
    ),
    ...rows.map((row) => line(row)),
  ].join('\n')
}

export function styled(text: string, style: Style | undefined): string {
  return style === undefined || !coloured() ? text : styleText(style, text)
}

function coloured(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return FORCE_COLOR !== undefined ? FORCE_COLOR !== '0' : process.stdout.isTTY === true && TERM !== 'dumb'
}

/** What stands in a cell for nothing. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : String(value)
}
