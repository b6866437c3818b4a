// What the draft changes in the saved virtual model, as lines of text.
import { useMemo } from 'preact/hooks'
import { type DiffLine, diffOf } from './diff.ts'
import type { Draft } from './draft.ts'

const SIGN = { same: ' ', gone: '−', new: '+' } as const
/** Lines of unchanged text around a change. */
const AROUND = 2

export function Changes({ saved, draft }: { saved: Draft; draft: Draft }) {
  const lines = useMemo(
    () => diffOf(JSON.stringify(saved, null, 2), JSON.stringify(draft, null, 2)),
    [JSON.stringify(saved), JSON.stringify(draft)],
  )
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  if (changed === 0) return null
  return (
    <details class="changes">
      <summary>
        The draft differs from what is saved: {changed} {changed === 1 ? 'line' : 'lines'}
      </summary>
      <pre class="diff">
        {near(lines).map(({ kind, text }, index) => {
          const line = `${SIGN[kind]} ${text}\n`
          if (kind === 'gone') return <del key={index}>{line}</del>
          return kind === 'new' ? <ins key={index}>{line}</ins> : <span key={index}>{line}</span>
        })}
      </pre>
    </details>
  )
}

function near(lines: readonly DiffLine[]): DiffLine[] {
  return lines.filter((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== 'same'))
}
