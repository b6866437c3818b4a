// Prices of your own. The server stores the whole list, and names the row and the member that it refuses.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { money } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'

type Price = Got<'/api/pricing/overrides'>['data'][number]
type Typed = Pick<Price, 'model' | 'input' | 'output' | 'cache_read' | 'cache_write'>

async function save(data: readonly Typed[]): Promise<void> {
  await answerOf(api.PUT('/api/pricing/overrides', { body: { data: [...data] } }))
  await invalidate('/api/pricing', '/api/models')
}

export function Overrides() {
  const overrides = useGet('/api/pricing/overrides')
  const editing = address.value.get('set')
  return (
    <Loading of={overrides}>
      {({ data }) => (
        <Panel
          title="Prices of your own"
          actions={may('manage') && editing === null && <Button onClick={() => setQuery({ set: 'new' })}>Set a price</Button>}
        >
          {may('manage') && editing !== null && (
            <PriceForm key={editing} others={data} of={data.find(({ model }) => model === editing)} model={editing} />
          )}
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
                { id: 'input', title: 'In, per 1M tokens', numeric: true, cell: (row) => money(row.input) },
                { id: 'output', title: 'Out, per 1M tokens', numeric: true, cell: (row) => money(row.output) },
                { id: 'read', title: 'Cache read', numeric: true, wide: true, cell: (row) => money(row.cache_read) },
                { id: 'write', title: 'Cache write', numeric: true, wide: true, cell: (row) => money(row.cache_write) },
                {
                  id: 'change',
                  title: '',
                  cell: (row) =>
                    may('manage') && (
                      <span class="actions">
                        <Button label={`Edit the price of ${row.model}`} onClick={() => setQuery({ set: row.model })}>
                          Edit
                        </Button>
                        <Button
                          label={`Remove the price of ${row.model}`}
                          onClick={() => save(data.filter((other) => other.model !== row.model))}
                        >
                          Remove
                        </Button>
                      </span>
                    ),
                },
              ]}
            />
          )}
        </Panel>
      )}
    </Loading>
  )
}

const FIELDS = [
  ['input', 'In'],
  ['output', 'Out'],
  ['cache_read', 'Cache read'],
  ['cache_write', 'Cache write'],
] as const
type Field = (typeof FIELDS)[number][0]

function PriceForm({ of: price, model: given, others }: { of: Price | undefined; model: string; others: readonly Price[] }) {
  const [model, setModel] = useState(price?.model ?? (given === 'new' ? '' : given))
  const [typed, setTyped] = useState<Readonly<Record<Field, string>>>({ input: '', output: '', cache_read: '', cache_write: '' })
  useEffect(() => {
    if (price === undefined) return
    setTyped(Object.fromEntries(FIELDS.map(([field]) => [field, String(price[field] ?? '')])) as Record<Field, string>)
  }, [])
  const known = useGet('/api/models')
  const kept = others.filter((other) => other.model !== price?.model && other.model !== model)
  // The server names the row by its place in the list: the new one is the last.
  const place = `data.${kept.length}`
  const send = async (): Promise<void> => {
    const values = Object.fromEntries(FIELDS.map(([field]) => [field, numberOf(typed[field])])) as Record<Field, number | null>
    await save([...kept, { ...price, model, ...values }])
    setQuery({ set: null })
  }
  return (
    <Form submit="Set the price" onSubmit={send} onCancel={() => setQuery({ set: null })}>
      <TextField
        name={`${place}.model`}
        covers={['model', 'overrides']}
        label="Model"
        hint="A model or provider/model."
        placeholder="openai/gpt-4o"
        options={(known.data?.data ?? []).slice(0, 1000).map(({ id }) => id)}
        value={model}
        onInput={setModel}
      />
      <div class="form-row">
        {FIELDS.map(([field, label]) => (
          <TextField
            key={field}
            name={`${place}.${field}`}
            label={`${label}, USD per 1M tokens`}
            type="number"
            hint={field === 'input' || field === 'output' ? undefined : 'Empty: as input'}
            value={typed[field]}
            onInput={(value) => setTyped({ ...typed, [field]: value })}
          />
        ))}
      </div>
    </Form>
  )
}
