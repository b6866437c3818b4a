// Calls to upstreams over time, counted by the server. Drag over the bars, or pick an hour of the table, to see only its requests.
import { useState } from 'preact/hooks'
import { gatewayTime } from '../../api/gateway-time.ts'
import { useGet } from '../../api/query.ts'
import { bucketName } from '../../app/bucket-name.ts'
import { count } from '../../app/format.ts'
import { RANGES, type Range, zoom } from './range.ts'

type Pointed = PointerEvent & { currentTarget: SVGSVGElement }

const HOUR_MS = 3_600_000
const HEIGHT = 40

/** The server counts by the hour, so one hour has no histogram. */
export function Histogram({ range }: { range: Range }) {
  const window = windowOf(range)
  const series = useGet(window === null ? null : '/api/usage/timeseries', {
    query: { window: window ?? undefined, bucket: 'hour' },
  })
  const [dragged, setDragged] = useState<readonly [number, number] | null>(null)
  const [asTable, setAsTable] = useState(false)
  const bars = series.data?.data ?? []
  const most = Math.max(0, ...bars.map(({ requests }) => requests))
  if (window === null || most === 0) return null
  const begins = (index: number): number => Date.parse(bars[index]?.ts ?? '')
  const indexAt = ({ currentTarget, clientX }: Pointed): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((clientX - left) / width) * bars.length)))
  }
  const drop = (): void => {
    if (dragged === null) return
    const [from, to] = [Math.min(...dragged), Math.max(...dragged)]
    setDragged(null)
    zoom(begins(from), begins(to) + HOUR_MS)
  }
  const inRange = (index: number): boolean =>
    range.name !== 'custom' ||
    (begins(index) + HOUR_MS > Date.parse(range.since ?? '1970-01-01') && begins(index) < Date.parse(range.until ?? '9999-01-01'))
  const selected = dragged === null ? null : { from: Math.min(...dragged), to: Math.max(...dragged) }
  const name = `Calls to upstreams per hour, last ${window}, of all requests`
  return (
    <section class="histogram" aria-label="Histogram">
      <header>
        <span class="quiet">{name}</span>
        <button type="button" class="button plain" onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show as chart' : 'Show as table'}
        </button>
      </header>
      {asTable ? (
        <div class="histogram-table">
          <table aria-label={name}>
            <tbody>
              {bars.map(
                ({ ts, requests, errors }, index) =>
                  requests > 0 && (
                    <tr key={ts}>
                      <th scope="row">
                        <button
                          type="button"
                          class="row-button"
                          title="Show only this hour"
                          onClick={() => zoom(begins(index), begins(index) + HOUR_MS)}
                        >
                          {bucketName(ts, 'hour')}
                        </button>
                      </th>
                      <td class="numeric">{count(requests)}</td>
                      <td class="numeric">{count(errors)} failed</td>
                    </tr>
                  ),
              )}
            </tbody>
          </table>
        </div>
      ) : (
        <svg
          role="img"
          aria-label={`${name}; at most ${count(most)}`}
          viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
          preserveAspectRatio="none"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            const at = indexAt(event)
            setDragged([at, at])
          }}
          onPointerMove={(event) => dragged !== null && setDragged([dragged[0], indexAt(event)])}
          onPointerUp={drop}
          onPointerCancel={() => setDragged(null)}
        >
          {selected !== null && (
            <rect class="brush" x={selected.from * 10} y={0} width={(selected.to - selected.from + 1) * 10} height={HEIGHT} />
          )}
          {bars.map(({ ts, requests, errors }, index) => {
            const height = requests === 0 ? 0 : Math.max(1.5, (requests / most) * (HEIGHT - 2))
            const bad = requests === 0 ? 0 : (height * errors) / requests
            return (
              <g key={ts} class={inRange(index) ? '' : 'outside'}>
                <title>{`${bucketName(ts, 'hour')}: ${count(requests)}${errors > 0 ? `, ${count(errors)} failed` : ''}`}</title>
                <rect class="hover" x={index * 10} y={0} width={10} height={HEIGHT} />
                <rect class="bar" x={index * 10 + 1} y={HEIGHT - height} width={8} height={height} />
                {bad > 0 && <rect class="bad" x={index * 10 + 1} y={HEIGHT - bad} width={8} height={bad} />}
              </g>
            )
          })}
        </svg>
      )}
    </section>
  )
}

/** The shortest window of the server that holds the range. */
function windowOf({ name, since }: Range): '24h' | '7d' | '30d' | null {
  if (name === '1h') return null
  if (name === '24h') return '24h'
  if (name !== 'custom' || since === null) return '7d'
  const age = gatewayTime() - Date.parse(since)
  return age <= RANGES['24h'] ? '24h' : age <= RANGES['7d'] ? '7d' : '30d'
}
