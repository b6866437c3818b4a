// Metrics of the log, read at scrape time.
import type { PluginGateway } from '../../core/types/plugin.ts'

export interface LogFigures {
  /** Rows that wait. */
  depth(): number
  /** Lost since this instance of the plugin was set up. */
  droppedRows(): number
  droppedBodies(): number
}

export interface LogMetrics {
  written(rows: number): void
  /** Reports the last values that were not scraped. */
  close(): void
}

export function logMetrics({ metrics }: PluginGateway, figures: LogFigures): LogMetrics {
  const rows = metrics.tally('request_log_rows_total', 'Rows of the request log written.', []).series()
  const dropped = metrics.counter(
    'request_log_dropped_total',
    'What the request log lost, under pressure or without its store.',
    ['what'],
  )
  const depth = metrics.gauge('request_log_queue_depth', 'Rows of the request log that wait to be written.')
  const seen = { row: 0, body: 0 }
  // Counters outlive a reload, the figures do not: only what is new is added.
  const count = (): void => {
    const now = { row: figures.droppedRows(), body: figures.droppedBodies() }
    for (const what of ['row', 'body'] as const) {
      dropped.inc({ what }, now[what] - seen[what])
      seen[what] = now[what]
    }
  }
  Object.assign(dropped, { collect: count })
  Object.assign(depth, { collect: () => depth.set(figures.depth()) })
  return { written: (written) => rows.add(written), close: count }
}
