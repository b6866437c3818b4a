import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { money, percent, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { Button } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'

export function Prices() {
  return (
    <>
      <Lookup />
      <Drift />
      <Overrides />
    </>
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
      {model !== '' && <Loading of={found}>{(data) => <pre>{JSON.stringify(data, null, 2)}</pre>}</Loading>}
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

function Overrides() {
  const overrides = useGet('/api/pricing/overrides')
  const [model, setModel] = useState('')
  const [input, setInput] = useState('')
  const [output, setOutput] = useState('')
  const save = async (data: readonly object[]): Promise<void> => {
    await answerOf(api.PUT('/api/pricing/overrides', { body: { data: data as never } }))
    await invalidate('/api/pricing')
  }
  const number = (text: string): number | null => (text.trim() === '' ? null : Number(text))
  return (
    <Loading of={overrides}>
      {({ data }) => (
        <Panel title="Prices of your own">
          {data.length === 0 ? (
            <Empty title="No price of your own">
              <p>A model without a known price is not counted against budgets. Set its price here.</p>
            </Empty>
          ) : (
            <Table
              label="Prices of your own"
              rows={data}
              rowKey={(row) => row.model}
              columns={[
                { id: 'model', title: 'Model', cell: (row) => row.model },
                {
                  id: 'input',
                  title: 'In, per 1M tokens',
                  numeric: true,
                  cell: (row) => (row.input === null ? UNKNOWN : money(row.input)),
                },
                {
                  id: 'output',
                  title: 'Out, per 1M tokens',
                  numeric: true,
                  cell: (row) => (row.output === null ? UNKNOWN : money(row.output)),
                },
                {
                  id: 'remove',
                  title: '',
                  cell: (row) =>
                    may('manage') && (
                      <Button onClick={() => save(data.filter((other) => other.model !== row.model))}>Remove</Button>
                    ),
                },
              ]}
            />
          )}
          {may('manage') && (
            <Form
              submit="Set the price"
              onSubmit={() =>
                save([...data.filter((row) => row.model !== model), { model, input: number(input), output: number(output) }])
              }
            >
              <div class="form-row">
                <TextField name="data" label="Model" placeholder="openai/gpt-4o" value={model} onInput={setModel} />
                <TextField name="input" label="In, USD per 1M tokens" type="number" value={input} onInput={setInput} />
                <TextField name="output" label="Out, USD per 1M tokens" type="number" value={output} onInput={setOutput} />
              </div>
            </Form>
          )}
        </Panel>
      )}
    </Loading>
  )
}
