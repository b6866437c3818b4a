// Small charts of our own: bars over time, and a share of a limit.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { percent } from '../../app/format.ts'

export interface Bar {
  /** For the title and the table. */
  label: string
  value: number
  /** The part of the value that failed. */
  failed?: number
}

/** Bars over time, with a table of the same figures for who cannot see them. */
export function Bars({ label, bars, format }: { label: string; bars: readonly Bar[]; format: (value: number) => string }) {
  const [asTable, setAsTable] = useState(false)
  const most = Math.max(...bars.map(({ value }) => value), 0)
  if (asTable)
    return (
      <div class="bars-table">
        <button type="button" class="button plain" onClick={() => setAsTable(false)}>
          Show as chart
        </button>
        <table aria-label={label}>
          <tbody>
            {bars.map((bar) => (
              <tr key={bar.label}>
                <th scope="row">{bar.label}</th>
                <td class="numeric">{format(bar.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )
  return (
    <figure class="bars">
      <svg
        role="img"
        aria-label={`${label}; at most ${format(most)}`}
        viewBox={`0 0 ${Math.max(bars.length, 1) * 10} 60`}
        preserveAspectRatio="none"
      >
        {bars.map((bar, index) => {
          const height = most === 0 ? 0 : Math.max((bar.value / most) * 58, bar.value > 0 ? 1.5 : 0)
          const bad = bar.value === 0 ? 0 : (height * (bar.failed ?? 0)) / bar.value
          return (
            <g key={bar.label}>
              <title>{`${bar.label}: ${format(bar.value)}${bar.failed ? `, ${format(bar.failed)} failed` : ''}`}</title>
              <rect class="hover" x={index * 10} y={0} width={10} height={60} />
              <rect class="bar" x={index * 10 + 1} y={60 - height} width={8} height={height} />
              {bad > 0 && <rect class="bad" x={index * 10 + 1} y={60 - bad} width={8} height={bad} />}
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{bars[0]?.label}</span>
        <button type="button" class="button plain" onClick={() => setAsTable(true)}>
          Show as table
        </button>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
    </figure>
  )
}

/** @param share 0 … 1 of a limit; above 1 it is over the limit */
export function Share({ share, label, children }: { share: number; label: string; children?: ComponentChildren }) {
  const tone = share >= 1 ? 'over' : share >= 0.85 ? 'near' : 'fine'
  return (
    <span class="share">
      <meter class={tone} aria-label={label} min={0} max={1} value={Math.min(Math.max(share, 0), 1)} />
      <span>{children ?? percent(share)}</span>
    </span>
  )
}
