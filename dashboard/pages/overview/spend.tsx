// Money of the window, and of today against yesterday. Every sum is the server's.
import { type Got, useGet } from '../../api/query.ts'
import { now } from '../../app/clock.ts'
import { compact, money } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Figures } from '../../ui/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { Money } from '../../ui/text.tsx'

const LOOK_MS = 30_000
const DAY_MS = 86_400_000

export function Spend({ totals, window }: { totals: Got<'/api/usage'>['totals']; window: string }) {
  const day = (back: number): string => new Date(now.value - back * DAY_MS).toISOString().slice(0, 10)
  // With an end: the clock of the browser may be ahead of the gateway's.
  const today = useGet('/api/usage', { query: { since: day(0), until: day(-1) } }, LOOK_MS)
  const yesterday = useGet('/api/usage', { query: { since: day(1), until: day(0) } })
  return (
    <Panel title="Spend" actions={<a href={href('/spend')}>details</a>}>
      <Figures
        of={[
          [
            'Today, UTC',
            <Money key="today" usd={today.data?.totals.cost_usd} />,
            `all of yesterday ${money(yesterday.data?.totals.cost_usd)}`,
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
