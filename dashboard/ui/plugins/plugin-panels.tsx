// Panels of plugins: the server names the data, and these components show it as text.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { type Got, useGet } from '../../api/query.ts'
import { count, money, ms, percent, UNKNOWN } from '../../app/format.ts'
import { Bars } from '../charts/bars.tsx'
import { Empty, Notice, Panel } from '../page.tsx'
import { Table } from '../table.tsx'
import { Time } from '../text.tsx'

type Declared = Got<'/api/plugins'>['data'][number]['panels'][number]
type Field = Declared['fields'][number]
type Values = Readonly<Record<string, unknown>>

interface Numbered {
  row: Values
  index: number
}

/** More than that is no panel but a page. */
const MAX_ROWS = 200

/** Shows the panels of all plugins for a place. @param id of the request, connection or key that is shown */
export function PluginPanels({ slot, id, plugin }: { slot: Declared['slot']; id?: string | number; plugin?: string }) {
  const plugins = useGet('/api/plugins')
  const shown = (plugins.data?.data ?? [])
    .filter(({ name }) => plugin === undefined || name === plugin)
    .flatMap(({ name, panels }) => panels.filter((panel) => panel.slot === slot).map((panel) => ({ name, panel })))
  return (
    <>
      {shown.map(({ name, panel }) => (
        <PluginPanel key={`${name} ${panel.id} ${id ?? ''}`} plugin={name} panel={panel} id={id} />
      ))}
    </>
  )
}

function PluginPanel({ plugin, panel, id }: { plugin: string; panel: Declared; id: string | number | undefined }) {
  const [answer, setAnswer] = useState<Values | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => {
    const path = panel.source.replace(':id', encodeURIComponent(String(id ?? '')))
    // The plugin names the route, so the types do not know it.
    const get = api.GET as unknown as (path: string) => Promise<{ response: Response; data?: Values }>
    answerOf(get(path)).then(
      (data) => setAnswer(data as Values),
      (thrown: unknown) => setError(ApiError.unreachable(thrown)),
    )
  }, [panel.source, id])
  return (
    <Panel title={panel.title} actions={<span class="quiet">{plugin}</span>}>
      {error !== null && <Notice tone="warning">{error.message}</Notice>}
      {answer !== null && <View panel={panel} answer={answer} />}
    </Panel>
  )
}

function View({ panel: { title, view, fields }, answer }: { panel: Declared; answer: Values }) {
  const rows = Array.isArray(answer.data) ? (answer.data as Values[]) : []
  if (view === 'text') return <pre class="prose">{String(answer.text ?? '')}</pre>
  if (view === 'stat')
    return (
      <dl class="figures">
        {fields.map((field) => (
          <div key={field.field}>
            <dt>{field.title}</dt>
            <dd>{shownValue(answer[field.field], field)}</dd>
          </div>
        ))}
      </dl>
    )
  if (rows.length === 0) return <Empty title="Nothing yet" />
  if (view === 'series') {
    const [time, value] = fields as [Field, Field]
    return (
      <Bars
        label={title}
        format={(amount) => String(plain(amount, value))}
        bars={rows.map((row) => ({ label: String(row[time.field]), value: Number(row[value.field]) || 0 }))}
      />
    )
  }
  const numbered: Numbered[] = rows.slice(0, MAX_ROWS).map((row, index) => ({ row, index }))
  return (
    <Table<Numbered>
      label={title}
      rows={numbered}
      rowKey={({ index }) => index}
      columns={fields.map((field) => ({
        id: field.field,
        title: field.title,
        numeric: field.format !== 'text' && field.format !== 'time',
        cell: ({ row }: Numbered) => shownValue(row[field.field], field),
      }))}
    />
  )
}

function shownValue(value: unknown, field: Field) {
  if (value === null || value === undefined) return UNKNOWN
  return field.format === 'time' && typeof value === 'string' ? <Time at={value} /> : plain(value, field)
}

function plain(value: unknown, { format }: Field): string {
  if (typeof value !== 'number') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (format === 'money') return money(value)
  if (format === 'ms') return ms(value)
  if (format === 'percent') return percent(value)
  return format === 'count' ? count(value) : String(value)
}
