// Types of what plugins show in the dashboard: data, no code.

/** The page that shows the panel. `page`: the plugin's entry below System; the others: the gateway's page of that name. */
export type PanelSlot = 'page' | 'overview' | 'request' | 'connection' | 'key'

export type PanelFormat = 'text' | 'count' | 'money' | 'ms' | 'percent' | 'time'

export interface PanelField {
  /** A member of the answer's objects. */
  readonly field: string
  readonly title: string
  /** Default `text`. `money`: USD; `ms`: milliseconds; `percent`: a share from 0 to 1; `time`: RFC 3339. */
  readonly format?: PanelFormat
}

/**
 * A part of the dashboard, filled by a GET route of the plugin. `stat` shows one object; `table` the objects of its list `data`; `series`
 * the numbers of its list `data` over time; `text` its member `text`. Everything is shown as text.
 */
export interface Panel {
  /** Unique within the plugin: `blocked`. */
  readonly id: string
  readonly title: string
  readonly slot: PanelSlot
  readonly view: 'stat' | 'table' | 'series' | 'text'
  /**
   * A GET route of the same plugin, registered before the panel. `:id` is the request, connection or key that is shown; in other slots
   * the path has no parameter.
   */
  readonly source: string
  /** The columns of a `stat` or `table`. A `series` has two: its time, then its value. */
  readonly fields?: readonly PanelField[]
}
