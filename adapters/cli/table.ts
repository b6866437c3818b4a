// Plain tables for a terminal: columns as wide as their content, the last one free; colours where there is one.
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** `styles`: by the text of a cell. `figures`: titles of the columns that stand at the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  styles: Readonly<Record<string, Style>> = {},
  figures: readonly string[] = [],
): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], dress: (cell: string) => string = (cell) => styled(cell, styles[cell])) =>
    cells
      .map((cell, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - cell.length)
        if (figures.includes(head[column] as string)) return padding + dress(cell)
        return column === cells.length - 1 ? dress(cell) : dress(cell) + padding
      })
      .join('  ')
      .trimEnd()
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

/** Text of a cell; an empty value prints as a dash. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return printable(Array.isArray(value) ? value.join(',') || '-' : String(value))
}

/** Names and messages come from callers and vendors: what a terminal would act on is shown, not done. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}
