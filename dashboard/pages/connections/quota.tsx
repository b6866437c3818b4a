// The quota windows of a connection, as its provider reported them.
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { count, money, percent, UNKNOWN } from '../../app/format.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Share } from '../../ui/charts/bars.tsx'
import { Ago } from '../../ui/text.tsx'

export function Quota({ of: id }: { of: number }) {
  const quota = useGet('/api/quota', { query: { connection_id: id } })
  const found = quota.data?.data[0]
  const refresh = async (): Promise<void> => {
    await answerOf(api.POST('/api/quota/refresh', { body: { connection_id: id } }))
    await invalidate('/api/quota')
  }
  if (found === undefined)
    return (
      <section>
        <h3>Quota</h3>
        <p class="quiet">The provider has not reported any. {may('manage') && <Button onClick={refresh}>Ask now</Button>}</p>
      </section>
    )
  return (
    <section>
      <h3>Quota{found.plan === null ? '' : ` (${found.plan})`}</h3>
      <ul class="stack-tight">
        {found.windows.map((window) => (
          <li key={`${window.name} ${window.model}`}>
            {window.name}
            {window.model !== null && ` of ${window.model}`}:{' '}
            {window.remaining_pct === null ? (
              UNKNOWN
            ) : (
              <Share label={window.name} share={1 - window.remaining_pct / 100}>
                {percent(window.remaining_pct / 100)} left{amountOf(window)}
              </Share>
            )}{' '}
            {window.resets_at !== null && (
              <span class="quiet">
                resets <Ago at={window.resets_at} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {found.error !== null && <p class="failure">{found.error}</p>}
      <p class="quiet">
        Read <Ago at={found.fetched_at} /> {may('manage') && <Button onClick={refresh}>Ask again</Button>}
      </p>
    </section>
  )
}

/** ` (40 of 100 requests)`, where the provider says so. */
function amountOf({ remaining, limit, unit }: { remaining: number | null; limit: number | null; unit: string }): string {
  if (remaining === null || limit === null || unit === 'percent') return ''
  return unit === 'usd' ? ` (${money(remaining)} of ${money(limit)})` : ` (${count(remaining)} of ${count(limit)} ${unit})`
}
