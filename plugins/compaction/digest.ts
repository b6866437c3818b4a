// Writes the digest of a conversation: assistant texts, and tool calls with their results, each cut to a limit.
import type { Entry } from './entries.ts'

/** Limits in characters. */
const USER = 8000
const CUT = { assistant: 500, args: 200, result: 300 }
const FULL: Limits = { assistant: USER, args: USER, result: USER }
const EARLIER = 20_000
/** A digest that is longer loses its oldest steps. */
const DIGEST = 60_000
type Limits = typeof CUT

/** `full`: so many of the last entries keep up to 8,000 characters. */
export function digestOf(entries: readonly Entry[], full = 0): string {
  const results = new Map(entries.flatMap((entry) => (entry.kind === 'result' ? [[entry.callId, entry.text] as const] : [])))
  const known = new Set(entries.flatMap((entry) => (entry.kind === 'call' ? [entry.id] : [])))
  const earlier = entries.flatMap((entry) => (entry.kind === 'earlier' ? [headAndTail(entry.text, EARLIER)] : []))
  const limits = (index: number): Limits => (index >= entries.length - full ? FULL : CUT)
  const lines = entries.flatMap((entry, index) => lineOf(entry, limits(index), results, known) ?? [])
  return [...earlier, ...newest(lines)].join('\n')
}

function lineOf(
  entry: Entry,
  { assistant, args, result }: Limits,
  results: ReadonlyMap<string, string>,
  known: ReadonlySet<string>,
): string | null {
  switch (entry.kind) {
    case 'earlier':
      return null
    case 'user':
      return `User: ${keptText(entry.text)}`
    case 'assistant':
      return `Assistant: ${headAndTail(entry.text, assistant)}`
    case 'call': {
      const outcome = results.get(entry.id)
      const shown = outcome === undefined ? '' : `\n  Result: ${headAndTail(outcome, result)}`
      return `Tool call: ${entry.name}(${headAndTail(entry.args, args)})${shown}`
    }
    case 'result':
      return known.has(entry.callId) ? null : `Tool result: ${headAndTail(entry.text, result)}`
  }
}

function newest(lines: readonly string[]): string[] {
  let left = DIGEST
  let from = lines.length
  while (from > 0 && left >= (lines[from - 1] as string).length) left -= (lines[--from] as string).length
  return from === 0 ? [...lines] : [`[${from} older steps are left out]`, ...lines.slice(from)]
}

/** Returns the text, or its head and tail with the number of characters between them. Never splits a surrogate pair. */
export function headAndTail(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  const head = whole(text.slice(0, half))
  const tail = whole(text.slice(-half))
  return `${head} […${text.length - head.length - tail.length} characters…] ${tail}`
}

function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '')
}

/** Cuts the text of a kept message. */
export function keptText(text: string): string {
  return headAndTail(text, USER)
}
