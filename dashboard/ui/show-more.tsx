// Long lists begin with some lines; a button below them adds more. The browser needs seconds to draw thousands of rows at once.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../app/format.ts'

const LINES = 50

export function useShowMore<T>(all: readonly T[]): { shown: readonly T[]; more: ComponentChildren } {
  const [lines, setLines] = useState(LINES)
  const left = all.length - lines
  const more = left > 0 && (
    <p>
      <button type="button" class="button" onClick={() => setLines(lines + LINES)}>
        Show {Math.min(left, LINES)} more
      </button>{' '}
      <span class="quiet">
        {count(lines)} of {count(all.length)} are shown.
      </span>
    </p>
  )
  return { shown: all.slice(0, lines), more }
}
