// Figures side by side: a title, a value and, where it helps, a small note.
import type { ComponentChildren } from 'preact'

type Figure = readonly [title: string, value: ComponentChildren, note?: string]

export function Figures({ of: figures }: { of: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(([title, value, note]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            {value}
            {note !== undefined && <small> {note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
