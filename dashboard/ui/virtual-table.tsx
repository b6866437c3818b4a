// A list of many rows of one height: only the rows on the screen are in the document.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { preferences } from '../app/preferences.ts'
import { useSlots } from './row-slots.ts'
import type { Column } from './table.tsx'

interface VirtualTableProps<T> {
  label: string
  columns: readonly (Column<T> & { width: string })[]
  rows: readonly T[]
  rowKey: (row: T) => string
  selected: string | null
  onOpen: (row: T) => void
  /** Called when the last row comes into view. */
  onEnd?: () => void
  foot?: ComponentChildren
}

const OVERSCAN = 6
/** Below this width of the list, px, the columns marked `wide` are left out. */
const NARROW = 760

export function VirtualTable<T>({ label, columns: all, rows, rowKey, selected, onOpen, onEnd, foot }: VirtualTableProps<T>) {
  const frame = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const [width, setWidth] = useState(NARROW)
  const [rowHeight, setRowHeight] = useState(30)
  // Rows are taller in the roomy density and on narrow screens.
  const { density } = preferences.value
  useLayoutEffect(() => {
    if (frame.current !== null) setRowHeight(Number.parseFloat(getComputedStyle(frame.current).getPropertyValue('--row')) || 30)
  }, [density, width])
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(() => {
      setHeight(element.clientHeight)
      setWidth(element.clientWidth)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN)
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + OVERSCAN)
  const shown = rows.slice(first, last)
  const space = useRef<HTMLDivElement>(null)
  // A reader who presses a row, or is in it, means that row.
  const held = (place: number): boolean => space.current?.children[place]?.matches(':focus-within, :active') === true
  const slots = useSlots(shown.map(rowKey), held)
  useEffect(() => {
    if (last >= rows.length && rows.length > 0) onEnd?.()
  }, [last >= rows.length, rows.length])
  const columns = width < NARROW ? all.filter(({ wide }) => !wide) : all
  const template = columns.map(({ width }) => width).join(' ')
  const classes = columns.map(({ id, numeric }) => `cell cell-${id} ${numeric ? 'numeric' : ''}`)
  return (
    <div
      class="list"
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      style={{ '--columns': template }}
    >
      <div role="rowgroup" class="list-head">
        <div role="row" aria-rowindex={1} class="list-row">
          {columns.map((column, at) => (
            <span key={column.id} role="columnheader" class={classes[at]}>
              {column.title}
            </span>
          ))}
        </div>
      </div>
      <div ref={frame} class="list-body" role="rowgroup" tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div class="list-height" style={{ height: `${rows.length * rowHeight}px` }}>
          <div ref={space} class="list-space" style={{ transform: `translateY(${first * rowHeight}px)` }}>
            {shown.map((row, index) => (
              <div
                key={slots[index]}
                role="row"
                aria-rowindex={first + index + 2}
                aria-selected={rowKey(row) === selected}
                class="list-row opens"
                onClick={() => onOpen(row)}
              >
                {columns.map((column, at) => (
                  <span key={column.id} role="cell" class={classes[at]}>
                    {at === 0 ? (
                      <button type="button" class="row-button" onClick={(event) => (event.stopPropagation(), onOpen(row))}>
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </span>
                ))}
              </div>
            ))}
          </div>
        </div>
        {/* A row group without a row is an error of ARIA, and there is none while the first ones are read. */}
        {rows.length > 0 ? (
          foot
        ) : (
          <div role="row" aria-rowindex={2}>
            <div role="cell">{foot}</div>
          </div>
        )}
      </div>
    </div>
  )
}
