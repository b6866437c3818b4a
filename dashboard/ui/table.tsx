// A table of few rows. Lists of many rows use virtual-table.tsx.
import type { ComponentChildren } from 'preact'
import { useShowMore } from './show-more.tsx'

export interface Column<T> {
  id: string
  title: string
  cell: (row: T) => ComponentChildren
  /** Figures are aligned right. */
  numeric?: boolean
  /** Left out on narrow screens. */
  wide?: boolean
  /** A long name without spaces: it may break anywhere on narrow screens. */
  breaks?: boolean
}

interface TableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string | number
  onOpen?: (row: T) => void
  selected?: string | number | null
}

export function Table<T>({ label, columns, rows, rowKey, onOpen, selected = null }: TableProps<T>) {
  const classOf = ({ numeric, wide, breaks }: Column<T>): string =>
    `${numeric ? 'numeric ' : ''}${wide ? 'wide ' : ''}${breaks ? 'breaks' : ''}`
  const { shown, more } = useShowMore(rows)
  return (
    <div class="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const key = rowKey(row)
            return (
              <tr
                key={key}
                class={onOpen && 'opens'}
                aria-selected={onOpen && key === selected}
                onClick={onOpen && (() => onOpen(row))}
              >
                {columns.map((column, index) => (
                  <td key={column.id} class={classOf(column)}>
                    {onOpen !== undefined && index === 0 ? (
                      <button type="button" class="row-button" onClick={(event) => (event.stopPropagation(), onOpen(row))}>
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
      {more}
    </div>
  )
}
