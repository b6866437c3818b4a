// A row of small bars without axes, for a table cell. Its text says what the bars show.

interface SparklineProps {
  label: string
  values: readonly { value: number; failed: number }[]
}

const WIDTH = 4
const HEIGHT = 18

export function Sparkline({ label, values }: SparklineProps) {
  const most = Math.max(...values.map(({ value }) => value), 1)
  const height = (value: number): number => (value === 0 ? 0 : Math.max((value / most) * HEIGHT, 1.5))
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      width={values.length * WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${values.length * WIDTH} ${HEIGHT}`}
    >
      <title>{label}</title>
      {values.map(({ value, failed }, index) => (
        <g key={index}>
          {value > 0 && (
            <rect class="bar" x={index * WIDTH} y={HEIGHT - height(value)} width={WIDTH - 1} height={height(value)} />
          )}
          {failed > 0 && (
            <rect class="bad" x={index * WIDTH} y={HEIGHT - height(failed)} width={WIDTH - 1} height={height(failed)} />
          )}
        </g>
      ))}
    </svg>
  )
}
