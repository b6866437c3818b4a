// The digest of a week: what the webhook event `report.weekly_digest` has.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, useGet } from '../../api/query.ts'
import { compact, count } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Figures } from '../../ui/charts/figures.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { Saving } from './advisor-recommendation.tsx'

export function Digest() {
  const asked = address.value.get('week') ?? ''
  const week = /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/.test(asked) ? asked : ''
  const digest = useGet('/api/advisor/digest', week === '' ? {} : { query: { week } })
  return (
    <Panel title="Digest of a week">
      <AddressNote name="week" shown={week === '' ? undefined : week} />
      <WeekForm key={week} week={week} />
      <Loading of={digest}>{(data) => <Week of={data} />}</Loading>
    </Panel>
  )
}

function WeekForm({ week }: { week: string }) {
  const [text, setText] = useState(week)
  const show = async (): Promise<void> => {
    const wanted = text.trim()
    // A wrong week is refused before it is in the address.
    if (wanted !== '') await answerOf(api.GET('/api/advisor/digest', { params: { query: { week: wanted } } }))
    setQuery({ week: wanted })
  }
  return (
    <Form submit="Show" onSubmit={show}>
      <TextField
        name="week"
        label="Week"
        placeholder="2026-W47"
        hint="Empty: the last week that is over, in the time zone of the budgets"
        value={text}
        onInput={setText}
      />
    </Form>
  )
}

function Week({ of: digest }: { of: Got<'/api/advisor/digest'> }) {
  const { week, period_start, period_end, requests, cost_usd, total_usd_saved, total_tokens_saved, top_opportunities } = digest
  return (
    <div class="stack">
      <p>
        <strong>{week}</strong>{' '}
        <span class="quiet">
          <Time at={period_start} /> to <Time at={period_end} />
        </span>
      </p>
      <Figures
        of={[
          ['Requests', count(requests)],
          ['Cost', <Money key="cost" usd={cost_usd} />],
          ['Saved', <Money key="saved" usd={total_usd_saved} />],
          ['Tokens saved', compact(total_tokens_saved)],
        ]}
      />
      {top_opportunities.length === 0 ? (
        <Empty title="No opportunities now" />
      ) : (
        <div>
          <h3>Largest opportunities now</h3>
          <ol class="opportunities">
            {top_opportunities.map(({ id, title, est_monthly_usd }) => (
              <li key={id}>
                <button type="button" class="row-button" onClick={() => setQuery({ open: id, action: null })}>
                  {title}
                </button>{' '}
                <Saving usd={est_monthly_usd} />
              </li>
            ))}
          </ol>
        </div>
      )}
    </div>
  )
}
