// The columns of the list, and the choice of them. The choice is in the address and stays in this browser.
import { compact, ms, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { prefer, preferences } from '../../app/preferences.ts'
import { Menu } from '../../ui/menu.tsx'
import { HttpStatus } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'
import type { Row } from './rows.ts'

type ListColumn = Column<Row> & { width: string }

const USUAL = 'time,status,model,key,tries,tokens,ttft,latency,cost'

/** Returns the chosen columns in their fixed order; without a choice, the usual ones. */
export function chosenColumns(): readonly ListColumn[] {
  const wanted = (address.value.get('columns') ?? (preferences.value.columns || USUAL)).split(',')
  const chosen = COLUMNS.filter(({ id }) => wanted.includes(id))
  return chosen.length === 0 ? COLUMNS.filter(({ id }) => USUAL.split(',').includes(id)) : chosen
}

export function idsOf(columns: readonly ListColumn[]): string {
  return columns.map(({ id }) => id).join(',')
}

export function ColumnsMenu() {
  const chosen = chosenColumns()
  const turn = (column: ListColumn): void => {
    const next = COLUMNS.filter((one) => (one === column ? !chosen.includes(one) : chosen.includes(one)))
    const ids = idsOf(next)
    if (next.length === 0) return
    prefer({ columns: ids === USUAL ? '' : ids })
    setQuery({ columns: ids === USUAL ? null : ids })
  }
  return (
    <Menu title="Columns ▾">
      <fieldset class="checks">
        <legend>Columns</legend>
        {COLUMNS.map((column) => (
          <label key={column.id}>
            <input type="checkbox" checked={chosen.includes(column)} onChange={() => turn(column)} /> {column.title}
          </label>
        ))}
      </fieldset>
      <button type="button" class="button" onClick={() => (prefer({ columns: '' }), setQuery({ columns: null }))}>
        The usual columns
      </button>
    </Menu>
  )
}

const COLUMNS: readonly ListColumn[] = [
  { id: 'time', title: 'Time', width: '104px', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'status',
    title: 'Status',
    width: '68px',
    cell: ({ status, attempts }) => <HttpStatus status={status} attempts={attempts} />,
  },
  { id: 'model', title: 'Asked → served', width: 'minmax(140px, 1fr)', cell: (row) => <Route row={row} /> },
  {
    id: 'key',
    title: 'Key',
    width: '128px',
    wide: true,
    cell: ({ api_key_label, source }) => api_key_label ?? (source === 'api' ? UNKNOWN : source),
  },
  { id: 'source', title: 'Source', width: '84px', wide: true, cell: ({ source }) => source },
  { id: 'error', title: 'Error', width: '130px', wide: true, cell: ({ error_code }) => error_code ?? '' },
  {
    id: 'tries',
    title: 'Tries',
    width: '46px',
    numeric: true,
    wide: true,
    cell: ({ attempts }) => attempts,
  },
  { id: 'stream', title: 'Stream', width: '58px', wide: true, cell: ({ stream }) => (stream ? 'yes' : 'no') },
  {
    id: 'tokens',
    title: 'Tokens',
    width: '92px',
    numeric: true,
    wide: true,
    cell: ({ tokens }) => `${compact(tokens.prompt)} + ${compact(tokens.completion)}`,
  },
  { id: 'ttft', title: 'First token', width: '80px', numeric: true, wide: true, cell: ({ ttft_ms }) => ms(ttft_ms) },
  { id: 'latency', title: 'Took', width: '72px', numeric: true, cell: ({ latency_ms }) => ms(latency_ms) },
  {
    id: 'cost',
    title: 'Cost',
    width: '84px',
    numeric: true,
    cell: ({ cost_usd, cached }) => (cached ? <span title="From the cache">cached</span> : <Money usd={cost_usd} />),
  },
]

function Route({ row }: { row: Row }) {
  const served = row.provider === null ? null : `${row.provider}/${row.model}`
  const asked = row.requested_model ?? row.virtual_model
  return (
    <span class="clip" title={`${asked ?? ''} → ${served ?? 'no upstream'}`}>
      {asked !== null && asked !== served && asked !== row.model && <>{asked} → </>}
      {served ?? <span class="quiet">no upstream</span>}
    </span>
  )
}
