// Prices: the models without one, prices of your own, prices that moved, and the price of any model.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { count, money, percent } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'
import { WindowName } from '../../ui/window.tsx'
import { Overrides } from './price-overrides.tsx'
import { ResolvedPrice } from './resolved-price.tsx'

export function Prices() {
  return (
    <>
      <Unpriced />
      <Overrides />
      <Drift />
      <Lookup />
    </>
  )
}

/** Models of the last 30 days that were used without a known price. */
function Unpriced() {
  const usage = useGet('/api/usage', { query: { window: '30d' } })
  const unpriced = (usage.data?.by_model ?? []).filter(({ unpriced_requests }) => unpriced_requests > 0)
  if (usage.data === undefined || unpriced.length === 0) return null
  return (
    <Panel title="Used without a known price" actions={<WindowName of={usage.data.window} />}>
      <Table
        label="Used without a known price"
        rows={unpriced}
        rowKey={({ model }) => model}
        columns={[
          { id: 'model', title: 'Model', cell: ({ model }) => model },
          { id: 'requests', title: 'Requests', numeric: true, cell: ({ unpriced_requests }) => count(unpriced_requests) },
          { id: 'tokens', title: 'Tokens of the model', numeric: true, wide: true, cell: ({ tokens }) => count(tokens.total) },
          {
            id: 'set',
            title: '',
            cell: ({ model }) =>
              may('manage') && (
                <Button label={`Set the price of ${model}`} onClick={() => setQuery({ set: model })}>
                  Set price
                </Button>
              ),
          },
        ]}
      />
      <p class="quiet">Their cost is unknown: budgets do not count them, and totals do not contain them.</p>
    </Panel>
  )
}

function Lookup() {
  const model = address.value.get('model') ?? ''
  const found = useGet(model === '' ? null : '/api/pricing/resolve', { query: { model } })
  return (
    <Panel title="The price of a model">
      <input
        class="filter-input"
        type="search"
        aria-label="Model"
        placeholder="openai/gpt-4o"
        spellcheck={false}
        value={model}
        onInput={(event) => setQuery({ model: event.currentTarget.value.trim() })}
      />
      {model !== '' && <Loading of={found}>{(data) => <ResolvedPrice of={data} />}</Loading>}
    </Panel>
  )
}

function Drift() {
  const drift = useGet('/api/pricing/drift', { query: { reviewed: 'false' } })
  const [said, setSaid] = useState<string | null>(null)
  const sync = async (): Promise<void> => {
    const { status, changed, drifted, error } = await answerOf(api.POST('/api/pricing/sync'))
    setSaid(error ?? `${status}: ${changed} changed, ${drifted} to review`)
    await invalidate('/api/pricing')
  }
  return (
    <Panel
      title="Prices that moved"
      actions={
        may('manage') && (
          <>
            {said !== null && <span class="quiet">{said}</span>}
            <Button onClick={sync}>Fetch prices now</Button>
          </>
        )
      }
    >
      <Loading of={drift}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">No price moved by more than the limit since the last review.</p>
          ) : (
            <Table
              label="Prices that moved"
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { id: 'model', title: 'Model', cell: ({ provider, model }) => `${provider}/${model}` },
                { id: 'field', title: 'Price', cell: ({ field }) => field.replaceAll('_', ' ') },
                { id: 'old', title: 'Old', numeric: true, cell: ({ old }) => money(old) },
                { id: 'new', title: 'New', numeric: true, cell: (row) => money(row.new) },
                { id: 'pct', title: 'Change', numeric: true, cell: ({ pct }) => percent(pct / 100) },
                { id: 'at', title: 'Seen', wide: true, cell: ({ detected_at }) => <Time at={detected_at} /> },
                {
                  id: 'review',
                  title: '',
                  cell: ({ id }) =>
                    may('manage') && (
                      <Button
                        onClick={async () => {
                          await answerOf(
                            api.POST('/api/pricing/drift/{id}/review', { params: { path: { id: String(id) } } as never }),
                          )
                          await invalidate('/api/pricing')
                        }}
                      >
                        Reviewed
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loading>
    </Panel>
  )
}
