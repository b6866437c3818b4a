// Prints plain tables for a terminal: columns as wide as their content, the last one of any width, colours if the terminal has them.
import { createRequire } from 'node:module'
import { styleText } from 'node:util'
import type { ConsolaInstance } from 'consola'
import { isWide } from '../terminal.ts'

type Style = Parameters<typeof styleText>[0]

/** `styles`: by the text of a cell. `figures`: titles of the right-aligned columns. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  styles: Readonly<Record<string, Style>> = {},
  figures: readonly string[] = [],
): string {
  const widths = fitted(
    head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0))),
    // The first column names the row and is never shortened.
    head.map((title, column) => (column === 0 ? Number.POSITIVE_INFINITY : title.length)),
  )
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
    ...rows.map((row) => line(row.map((text, column) => cut(text, widths[column] ?? text.length)))),
  ].join('\n')
}

/**
 * Returns widths that fit the terminal: the widest column shrinks first, no column below the width of its title. Output to a file or pipe
 * is not shortened.
 */
function fitted(widths: readonly number[], least: readonly number[], columns = terminalColumns()): number[] {
  const fitted = [...widths]
  let over = fitted.reduce((sum, width) => sum + width + 2, -2) - columns
  while (over > 0) {
    const widest = fitted.reduce(
      (best, width, at) => (width - (least[at] ?? 0) > (fitted[best] ?? 0) - (least[best] ?? 0) ? at : best),
      0,
    )
    const spare = (fitted[widest] ?? 0) - Math.max(least[widest] ?? 0, 8)
    if (spare <= 0) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
    over--
  }
  return fitted
}

/** Output to a file or pipe has any width. */
export function terminalColumns(): number {
  return process.stdout.isTTY === true && !isWide() ? process.stdout.columns : Number.POSITIVE_INFINITY
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

export function styled(text: string, style: Style | undefined): string {
  return style === undefined || !coloured() ? text : styleText(style, text)
}

export function coloured(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return FORCE_COLOR !== undefined ? FORCE_COLOR !== '0' : process.stdout.isTTY === true && TERM !== 'dumb'
}

/** Returns the text of a cell; an empty value is a dash. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return printable(Array.isArray(value) ? value.join(',') || '-' : String(value))
}

/**
 * Names and messages come from callers and vendors: control characters are printed in escaped form, so that the terminal does not execute
 * them.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

// Messages for people go to stderr. stdout has only the result, so that `KEY=$(hookgate key create)` works.
export const say = new Proxy({} as Omit<ConsolaInstance, 'level'>, { get: (_, name) => Reflect.get(consola(), name) as unknown })

let made: ConsolaInstance | null = null
let level = 3

/** Messages above this level of consola are not printed. */
export function setLevel(next: number): void {
  level = next
  if (made !== null) made.level = next
}

/** Loads consola for the first message. It makes a segmenter of texts, which takes as long as the rest of a short command. */
function consola(): ConsolaInstance {
  if (made !== null) return made
  const { createConsola } = createRequire(import.meta.url)('consola') as typeof import('consola')
  made = createConsola({ level, throttle: 0, stdout: process.stderr, stderr: process.stderr, formatOptions: { date: false } })
  return made
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}
