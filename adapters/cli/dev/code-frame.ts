// Shows the lines of a file around an error of its load.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { printable, styled } from '../output/table.ts'

export interface Place {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** From 0. */
  readonly column: number
}

const AROUND = 2

/** Returns the error with the code around it, if it names a place in a file. */
export function loadFailure(error: Error): string {
  const place = placeOf(error)
  const message = place === null ? error.message : error.message.replace(at(place), '').trimEnd()
  const frame = place === null ? null : codeFrame(place)
  return [
    `${styled('not loaded', 'red')}  ${message.split('\n').map(printable).join('\n  ')}`,
    ...(frame === null ? [] : [frame]),
  ].join('\n')
}

/** Returns the place that jiti writes at the end of the message of a syntax error. */
export function placeOf(error: Error): Place | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const found = /\n?\s*((?:[a-zA-Z]:)?[^\n:]+):(\d+):(\d+)\s*$/.exec(cause.message)
    if (found !== null) return { path: (found[1] as string).trim(), line: Number(found[2]), column: Number(found[3]) }
  }
  return null
}

export function codeFrame({ path, line, column }: Place): string | null {
  let lines: string[]
  try {
    lines = readFileSync(path, 'utf8').split('\n')
  } catch {
    return null
  }
  const first = Math.max(1, line - AROUND)
  const width = String(line + AROUND).length
  const shown = lines.slice(first - 1, line + AROUND).flatMap((text, index) => {
    const number = first + index
    const mark = number === line ? '>' : ' '
    const row = `  ${mark} ${String(number).padStart(width)} │ ${printable(text.replaceAll('\t', ' '))}`
    return number === line
      ? [styled(row, 'bold'), `    ${' '.repeat(width)} │ ${' '.repeat(column)}${styled('^', 'red')}`]
      : [row]
  })
  return [`  ${styled(`${relative(process.cwd(), path)}:${line}:${column + 1}`, 'cyan')}`, ...shown].join('\n')
}

function at({ path, line, column }: Place): string {
  return `${path}:${line}:${column}`
}
