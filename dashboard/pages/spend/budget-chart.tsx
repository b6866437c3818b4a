// The spend of a budget's window up to now, its projection and its limit.
import { useGet } from '../../api/query.ts'
import { now } from '../../app/clock.ts'
import { money } from '../../app/format.ts'
import { Money, Time } from '../../ui/text.tsx'
import type { Budget } from './budget-forms.tsx'

const WIDTH = 400
const HEIGHT = 110
const HOUR_MS = 3_600_000
/** Windows up to this length have points by the hour. */
const HOURS_UP_TO_MS = 8 * 24 * HOUR_MS
const GROUPS = { org: undefined, key: 'key', virtual_model: 'virtual_model' } as const

export function BudgetChart({ of: budget, zone }: { of: Budget; zone: string }) {
  const { window_start, window_end, spend_usd: spent, effective_limit_usd: limit, projected_usd: projected } = budget
  const points = usePoints(budget)
  if (window_start === null || window_end === null) return null
  const [start, end] = [Date.parse(window_start), Date.parse(window_end)]
  const most = Math.max(limit, projected ?? 0, spent) * 1.08 || 1
  const x = (at: number): number => (Math.min(Math.max((at - start) / (end - start), 0), 1) || 0) * WIDTH
  const y = (usd: number): number => HEIGHT - (usd / most) * HEIGHT
  const at = Math.min(now.peek(), end)
  // The server's sum of now ends the line: points before it may be cut by the zone of the window.
  const line = [[start, 0], ...points.filter(([, usd]) => usd <= spent), [at, spent]] as const
  const path = (list: readonly (readonly [number, number])[]): string =>
    list.map(([when, usd], index) => `${index === 0 ? 'M' : 'L'}${x(when).toFixed(1)} ${y(usd).toFixed(1)}`).join(' ')
  return (
    <figure class="chart budget-chart">
      <svg
        role="img"
        aria-label={`Spent ${money(spent)} of ${money(limit)}${projected === null ? '' : `, ${money(projected)} projected`}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        <path class="area" d={`${path(line)} L${x(at).toFixed(1)} ${HEIGHT} L0 ${HEIGHT} Z`} />
        {projected !== null && projected > spent && (
          <path
            class="cone"
            d={`${path([
              [at, spent],
              [end, projected],
              [end, spent],
            ])} Z`}
          />
        )}
        <path class="line" d={path(line)} />
        {projected !== null && (
          <path
            class="projected"
            d={path([
              [at, spent],
              [end, projected],
            ])}
          />
        )}
        <path
          class="limit"
          d={path([
            [start, limit],
            [end, limit],
          ])}
        />
        {budget.breaks_at !== null && (
          <path
            class="break"
            d={path([
              [Date.parse(budget.breaks_at), 0],
              [Date.parse(budget.breaks_at), limit],
            ])}
          />
        )}
      </svg>
      <figcaption>
        <Time at={window_start} />
        <span>{zone}</span>
        <Time at={window_end} />
      </figcaption>
      <ul class="legend">
        <li>
          <Key kind="line" /> spent <Money usd={spent} />
        </li>
        <li>
          <Key kind="limit" /> limit <Money usd={limit} />
        </li>
        {projected !== null && (
          <li>
            <Key kind="projected" /> projected <Money usd={projected} />
          </li>
        )}
        {budget.breaks_at !== null && (
          <li>
            <Key kind="break" /> reached <Time at={budget.breaks_at} />
          </li>
        )}
      </ul>
    </figure>
  )
}

function Key({ kind }: { kind: string }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <path class={kind} d="M0 5 L10 5" />
    </svg>
  )
}

/** The course of the spend since the window began; empty where usage has no such course, such as an hourly window. */
function usePoints({ scope, entity_id, entity_label, window_start, window_end }: Budget): (readonly [at: number, usd: number])[] {
  const known = window_start !== null && window_end !== null
  const length = known ? Date.parse(window_end) - Date.parse(window_start) : 0
  const asked = known && length > HOUR_MS && length <= 366 * 24 * HOUR_MS
  const bucket = length <= HOURS_UP_TO_MS ? 'hour' : 'day'
  const group_by = GROUPS[scope]
  const series = useGet(asked ? '/api/usage/timeseries' : null, {
    query: { since: window_start?.slice(0, 10), bucket, ...(group_by && { group_by }) },
  })
  const width = bucket === 'hour' ? HOUR_MS : 24 * HOUR_MS
  const own = (group: string | undefined): boolean =>
    scope === 'org' || group === entity_label || group === `#${entity_id}` || group === `${entity_label} (#${entity_id})`
  let sum = 0
  return (series.data?.data ?? [])
    .filter(
      ({ ts, group }) => own(group) && Date.parse(ts) >= Date.parse(window_start ?? '') && Date.parse(ts) + width <= now.peek(),
    )
    .map(({ ts, cost_usd }) => {
      sum += cost_usd
      return [Date.parse(ts) + width, sum] as const
    })
}
