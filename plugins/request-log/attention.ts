// The fact that the request log lost rows a short time ago.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { LogQueue } from './queue.ts'

/** A loss is no news after this time. */
const NEWS_MS = 15 * 60_000

export function lossFacts(queue: Pick<LogQueue, 'lost'>, clock: Clock): AttentionFacts {
  return ({ system }) => {
    const { rows, at } = queue.lost()
    if (!system || at === null || clock.now() - at > NEWS_MS) return []
    return [
      {
        kind: 'log_dropped',
        severity: 'warning',
        subject: { kind: 'log', id: 'request_log', label: 'request log' },
        title: `The request log lost ${rows} ${rows === 1 ? 'row' : 'rows'} since the start of this process.`,
        since: at,
        effect: 'Usage, budgets and costs are complete; the list of requests is not.',
        levers: [],
        link: '/system?tab=health',
      },
    ]
  }
}
