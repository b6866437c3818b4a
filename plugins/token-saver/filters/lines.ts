// Helpers for lines of tool output: cleaning, importance, and cuts with a note of their size.
import type { Output } from './filter.ts'

const SAMPLE = 1024
/** Maximum important lines that survive a cut. */
const KEPT_AT_MOST = 200
const IMPORTANT = /error|fail|panic|exception|traceback/i

export function outputOf(text: string): Output {
  const lines = withoutColours(text).split('\n').map(withoutProgress)
  return { lines, head: sample(lines), tail: sample([...lines.slice(-40)].reverse()) }
}

function sample(lines: readonly string[]): string[] {
  const out: string[] = []
  let size = 0
  for (const line of lines) {
    if (size >= SAMPLE) break
    size += line.length + 1
    if (line.trim() !== '') out.push(line.slice(0, SAMPLE))
  }
  return out
}

/** Removes terminal sequences `ESC [ … letter`. */
function withoutColours(text: string): string {
  if (!text.includes('\u001b')) return text
  const [first, ...rest] = text.split('\u001b') as [string, ...string[]]
  return first + rest.map((piece) => piece.replace(/^\[[0-9;?]*[@-~]/, '')).join('')
}

/** Returns the final content of a line: a carriage return restarts it. */
function withoutProgress(line: string): string {
  if (!line.includes('\r')) return line
  const whole = line.endsWith('\r') ? line.slice(0, -1) : line
  return whole.slice(whole.lastIndexOf('\r') + 1)
}

/** Returns the first and last lines, and the lines between them that report failures. */
export function headAndTail(lines: readonly string[], head: number, tail: number): string[] {
  if (lines.length <= head + tail) return [...lines]
  const out = lines.slice(0, head)
  let left = 0
  let kept = 0
  for (const line of lines.slice(head, lines.length - tail)) {
    if (!IMPORTANT.test(line) || kept >= KEPT_AT_MOST) left++
    else {
      if (left > 0) out.push(leftOut(left))
      left = 0
      kept++
      out.push(line)
    }
  }
  if (left > 0) out.push(leftOut(left))
  return [...out, ...lines.slice(lines.length - tail)]
}

export function leftOut(count: number, what = 'line'): string {
  return `… ${count} more ${what}${count === 1 ? '' : 's'}`
}

/** Returns `a, b, c, … 4 more`. */
export function someOf(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown}, … ${names.length - most} more` : shown
}

/** Removes blank lines at both ends, and reduces several blank lines to one. */
export function squeezed(lines: readonly string[]): string[] {
  const out: string[] = []
  for (const line of lines)
    if (line.trim() !== '' || (out.length > 0 && out.at(-1) !== '')) out.push(line.trim() === '' ? '' : line)
  if (out.at(-1) === '') out.pop()
  return out
}

/** Returns the rest of a line after `count` columns, with its spaces. */
export function behindColumns(line: string, count: number): string {
  let at = 0
  for (let column = 0; column < count; column++) {
    while (at < line.length && line[at] !== ' ') at++
    while (at < line.length && line[at] === ' ') at++
  }
  return line.slice(at)
}
