// Metrics of letters, and the fact that letters fail for those who operate the gateway.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Finished } from './store.ts'
import { summary } from './store.ts'

const DAY_MS = 86_400_000

/** Returns the counter of attempts. */
export function mailMetrics({ metrics, db, clock, log }: PluginGateway): (status: Finished['status']) => void {
  const letters = metrics.counter(
    'mail_attempts_total',
    'Attempts to deliver a letter: sent; failed, to be tried again; dead, given up.',
    ['result'],
  )
  const labels = { sent: 'sent', waiting: 'failed', dead: 'dead' } as const
  for (const result of Object.values(labels)) letters.inc({ result }, 0)
  const waiting = metrics.gauge('mail_waiting', 'Letters that wait for their first attempt or a retry.', [], 'max')
  Object.assign(waiting, {
    async collect() {
      try {
        waiting.set((await summary(db, clock.now())).waiting)
      } catch (error) {
        log.debug('mail.not_counted', { error: String(error) })
      }
    },
  })
  return (status) => letters.inc({ result: labels[status] })
}

export function mailFacts({ db, clock }: Pick<PluginGateway, 'db' | 'clock'>): AttentionFacts {
  return async ({ system }) => {
    if (!system) return []
    const { dead, last_dead, retrying, oldest } = await summary(db, clock.now() - DAY_MS)
    if (dead === 0 && retrying === 0) return []
    const count = (n: number): string => (n === 1 ? 'One letter' : `${n} letters`)
    return [
      {
        kind: dead > 0 ? 'mail_dead' : 'mail_failing',
        severity: 'warning',
        subject: { kind: 'mail', id: 'outbox', label: 'e-mail' },
        title:
          dead > 0
            ? `${count(dead)} could not be delivered in the last 24 hours.`
            : `${count(retrying)} could not be delivered yet.`,
        since: dead > 0 ? last_dead : oldest,
        effect:
          dead > 0
            ? 'Their recipients got no link; they can ask for another one. GET /api/mail shows the reasons.'
            : 'Delivery is tried again for a day. GET /api/mail shows the reasons.',
        levers: [],
        link: null,
      },
    ]
  }
}
