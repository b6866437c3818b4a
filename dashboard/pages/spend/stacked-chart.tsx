// Cost over time as stacked bars by group, with a table of the same figures.
import { useState } from 'preact/hooks'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'

export interface Step {
  readonly label: string
  /** The server's sum of the step. */
  readonly total: number
  /** By group, in the order of `groups`. */
  readonly parts: readonly number[]
}

interface StackedChartProps {
  label: string
  groups: readonly string[]
  steps: readonly Step[]
  format: (value: number) => string
}

const STEP = 12
const HEIGHT = 120

export function StackedChart({ label, groups, steps, format }: StackedChartProps) {
  const [asTable, setAsTable] = useState(false)
  const most = Math.max(...steps.map(({ total }) => total), 0)
  const hasRest = steps.some(({ total, parts }) => total - parts.reduce((sum, part) => sum + part, 0) > total * 1e-6)
  const swap = (
    <button type="button" class="button plain" onClick={() => setAsTable(!asTable)}>
      {asTable ? 'Show as chart' : 'Show as table'}
    </button>
  )
  if (asTable)
    return (
      <div class="chart-table">
        {swap}
        <Table
          label={label}
          rows={steps}
          rowKey={(step) => step.label}
          columns={[
            { id: 'time', title: 'Time', cell: (step) => step.label },
            { id: 'total', title: 'Total', numeric: true, cell: ({ total }) => <Money usd={total} /> },
            ...groups.map((group, at) => ({
              id: `group ${group}`,
              title: group,
              numeric: true,
              wide: true,
              cell: ({ parts }: Step) => <Money usd={parts[at] ?? 0} />,
            })),
          ]}
        />
      </div>
    )
  return (
    <figure class="chart">
      <div class="chart-top">
        <span>{format(most)}</span>
        {swap}
      </div>
      <svg
        role="img"
        aria-label={`${label}; at most ${format(most)}`}
        viewBox={`0 0 ${Math.max(steps.length, 1) * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {steps.map((step, at) => (
          <Bar key={step.label} step={step} x={at * STEP} scale={most === 0 ? 0 : HEIGHT / most} title={titleOf(step)} />
        ))}
      </svg>
      <figcaption>
        <span>{steps[0]?.label}</span>
        <span>{steps.at(-1)?.label}</span>
      </figcaption>
      <ul class="legend">
        {groups.map((group, at) => (
          <li key={group}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`group-${at}`} width={10} height={10} rx={2} />
            </svg>
            {group}
          </li>
        ))}
        {hasRest && (
          <li>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class="group-rest" width={10} height={10} rx={2} />
            </svg>
            others
          </li>
        )}
      </ul>
    </figure>
  )

  function titleOf({ label, total, parts }: Step): string {
    const named = groups.flatMap((group, at) => ((parts[at] ?? 0) > 0 ? [`${group} ${format(parts[at] ?? 0)}`] : []))
    return [`${label}: ${format(total)}`, ...named].join('\n')
  }
}

/** The whole bar is the server's sum; the groups are drawn over it from below. */
function Bar({ step: { total, parts }, x, scale, title }: { step: Step; x: number; scale: number; title: string }) {
  let below = 0
  return (
    <g>
      <title>{title}</title>
      <rect class="hover" x={x} y={0} width={STEP} height={HEIGHT} />
      <rect class="group-rest" x={x + 1} y={HEIGHT - total * scale} width={STEP - 2} height={total * scale} />
      {parts.map((part, at) => {
        if (part === 0) return null
        below += part
        return (
          <rect
            key={at}
            class={`group-${at}`}
            x={x + 1}
            y={HEIGHT - below * scale}
            width={STEP - 2}
            height={Math.max(part * scale, 0.6)}
          />
        )
      })}
    </g>
  )
}
