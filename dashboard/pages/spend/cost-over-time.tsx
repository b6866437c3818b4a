// The cost of the window over time by the chosen group. The largest groups have a colour each.
import { useGet } from '../../api/query.ts'
import { bucketName } from '../../app/bucket-name.ts'
import { money } from '../../app/format.ts'
import { Loading } from '../../ui/page.tsx'
import type { windowOf } from '../../ui/window.tsx'
import { StackedChart, type Step } from './stacked-chart.tsx'

export type ChartGroup = 'provider' | 'model' | 'key' | 'virtual_model' | 'cost_center'

const COLOURS = 6

interface CostOverTimeProps {
  window: ReturnType<typeof windowOf>
  by: ChartGroup
  /** All groups of the window, the most expensive first. */
  groups: readonly string[]
}

export function CostOverTime({ window, by, groups }: CostOverTimeProps) {
  const whole = useGet('/api/usage/timeseries', { query: { window } })
  const grouped = useGet('/api/usage/timeseries', { query: { window, group_by: by } })
  const shown = groups.slice(0, COLOURS)
  const parts = new Map<string, number>()
  for (const { ts, group = '', cost_usd } of grouped.data?.data ?? []) parts.set(`${ts} ${group}`, cost_usd)
  return (
    <Loading of={whole}>
      {({ data, bucket }) => {
        const steps = data.map(
          ({ ts, cost_usd }): Step => ({
            label: bucketName(ts, bucket),
            total: cost_usd,
            parts: shown.map((group) => parts.get(`${ts} ${group}`) ?? 0),
          }),
        )
        return (
          <StackedChart
            label={`Cost per ${bucket}, in UTC, by ${by.replaceAll('_', ' ')}`}
            groups={shown}
            steps={steps}
            format={money}
          />
        )
      }}
    </Loading>
  )
}
