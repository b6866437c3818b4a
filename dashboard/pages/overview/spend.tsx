// Money of the window, and of today against yesterday. Every sum is the server's.
import { type Got, useGet } from '../../api/query.ts'
import { compact, money } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Figures } from '../../ui/charts/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { Money } from '../../ui/text.tsx'

const LOOK_MS = 30_000

interface SpendProps {
  totals: Got<'/api/usage'>['totals']
  window: string
  /** The end of the window: the time of the gateway. The clock of the browser may be ahead of it. */
  until: string
}

export function Spend({ totals, window, until }: SpendProps) {
  const since = until.slice(0, 10)
  const today = useGet('/api/usage', { query: { since } }, LOOK_MS)
  const yesterday = useGet('/api/usage', { query: { since, back_days: 1 } }, LOOK_MS)
  return (
    <Panel title="Spend" actions={<a href={href('/spend')}>details</a>}>
      <Figures
        of={[
          [
            'Today, UTC',
            <Money key="today" usd={today.data?.totals.cost_usd} />,
            `yesterday by this time ${money(yesterday.data?.totals.cost_usd)}`,
          ],
          [`Last ${window}`, <Money key="cost" usd={totals.cost_usd} />, 'at the providers'],
          ['Saved', <Money key="saved" usd={totals.usd_saved} />, `last ${window}`],
          [
            'Tokens',
            compact(totals.tokens.total),
            `${compact(totals.tokens.prompt)} in, ${compact(totals.tokens.completion)} out`,
          ],
        ]}
      />
    </Panel>
  )
}
