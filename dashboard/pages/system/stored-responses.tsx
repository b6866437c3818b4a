// Stored responses and conversations: what is kept of callers, and its deletion. Their texts are read only on request.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { download } from '../../api/download.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { bytes, count, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Facts, Loading, Panel, Peek } from '../../ui/page.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/text.tsx'

type Stored = Got<'/api/responses'>['data'][number]

/** More text would stall the page; the export has everything. */
const SHOWN_CHARS = 64 * 1024
const TONES: Record<string, Tone> = { completed: 'ok', open: 'ok', failed: 'failed', cancelled: 'quiet', incomplete: 'retried' }

export function StoredResponses() {
  const key = keyInAddress()
  const cursor = /^\d{1,16}\.[A-Za-z0-9]{1,64}$/.exec(address.value.get('cursor') ?? '')?.[0] ?? null
  const open = address.value.get('open')
  const query = key === null ? {} : { key_id: String(key) }
  const stored = useGet('/api/responses', { query: { ...query, ...(cursor !== null && { cursor }) } })
  const suffix = key === null ? '' : `?key_id=${key}`
  const removeAll = async (): Promise<void> => {
    const whose = key === null ? 'every key' : key === 0 ? 'calls without a key' : `key ${key}`
    if (!confirm(`Delete all stored responses and conversations of ${whose}? Callers cannot continue them any more.`)) return
    const params = { query: key === null ? { all: 'true' as const } : { key_id: String(key) } }
    await answerOf(api.DELETE('/api/responses', { params }))
    setQuery({ open: null, cursor: null })
    await invalidate('/api/responses')
  }
  return (
    <Loading of={stored}>
      {({ data, next_cursor }) => {
        const shown = data.find(({ id }) => id === open)
        return (
          <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
            <AddressNote name="open" shown={shown?.id} />
            <AddressNote name="key" shown={key} />
            <AddressNote name="cursor" shown={cursor} />
            <Panel
              title="Stored responses and conversations"
              actions={
                <>
                  <input
                    class="filter-input key-filter"
                    type="search"
                    inputMode="numeric"
                    aria-label="Number of a key; 0: without a key"
                    placeholder="number of a key"
                    value={key === null ? '' : String(key)}
                    onInput={(event) => setQuery({ key: event.currentTarget.value.replaceAll(/\D/g, ''), cursor: null })}
                  />
                  {data.length > 0 && (
                    <>
                      <Button
                        title="With their texts, as JSON lines"
                        onClick={() => download(`/api/responses/export${suffix}`, 'responses.jsonl')}
                      >
                        Export
                      </Button>
                      <Button kind="danger" onClick={removeAll}>
                        Delete all
                      </Button>
                    </>
                  )}
                </>
              }
            >
              {data.length === 0 ? (
                <Empty title="Nothing is stored">
                  <p>
                    Callers of <code>/v1/responses</code> store an answer with <code>store: true</code>, to continue it later.
                  </p>
                </Empty>
              ) : (
                <StoredTable of={data} open={open} />
              )}
              {(cursor !== null || next_cursor !== null) && (
                <div class="actions">
                  {cursor !== null && <Button onClick={() => setQuery({ cursor: null, open: null })}>Newest</Button>}
                  {next_cursor !== null && <Button onClick={() => setQuery({ cursor: next_cursor, open: null })}>Older</Button>}
                </div>
              )}
            </Panel>
            {shown !== undefined && <StoredPeek key={shown.id} of={shown} />}
          </div>
        )
      }}
    </Loading>
  )
}

function keyInAddress(): number | null {
  const text = address.value.get('key') ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function StoredTable({ of: data, open }: { of: readonly Stored[]; open: string | null }) {
  return (
    <Table
      label="Stored responses and conversations"
      rows={data}
      rowKey={({ id }) => id}
      selected={open}
      onOpen={({ id }) => setQuery({ open: id === open ? null : id })}
      columns={[
        { id: 'id', title: 'Id', cell: ({ id }) => <code>{id.slice(0, 18)}…</code> },
        { id: 'kind', title: 'Kind', cell: ({ object }) => object },
        { id: 'state', title: 'State', wide: true, cell: ({ status }) => <State of={status} /> },
        { id: 'key', title: 'Key', wide: true, numeric: true, cell: ({ key_id }) => key_id ?? UNKNOWN },
        { id: 'size', title: 'Size', numeric: true, wide: true, cell: (one) => sizeOf(one) },
        { id: 'created', title: 'Stored', cell: ({ created_at }) => <Ago at={created_at} /> },
        { id: 'expires', title: 'Expires', wide: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
      ]}
    />
  )
}

function State({ of: status }: { of: string }) {
  return <Status tone={TONES[status] ?? 'waiting'}>{status.replaceAll('_', ' ')}</Status>
}

/** Only finished responses are measured. */
function sizeOf({ bytes: size }: Stored): string {
  return size === 0 ? UNKNOWN : bytes(size)
}

function StoredPeek({ of: one }: { of: Stored }) {
  const [text, setText] = useState<string | null>(null)
  const params = { path: { id: one.id } } as never
  const show = async (): Promise<void> => {
    const { input, response, metadata } = await answerOf(api.GET('/api/responses/{id}', { params }))
    setText(JSON.stringify({ input, response, metadata }, null, 2))
  }
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete this ${one.object}? Its caller cannot continue it any more.`)) return
    await answerOf(api.DELETE('/api/responses/{id}', { params }))
    setQuery({ open: null })
    await invalidate('/api/responses')
  }
  return (
    <Peek title={`Stored ${one.object}`} onClose={() => setQuery({ open: null })}>
      <Facts
        facts={[
          ['Id', <code key="id">{one.id}</code>],
          ['State', <State key="state" of={one.status} />],
          ['Key', one.key_id === null ? 'none' : String(one.key_id)],
          ['Size', sizeOf(one)],
          ['Stored', <Time key="at" at={one.created_at} />],
          ['Expires', <Time key="expires" at={one.expires_at} />],
        ]}
      />
      <div class="actions">
        {text === null && <Button onClick={show}>Show the texts</Button>}
        <Button kind="danger" onClick={remove}>
          Delete
        </Button>
      </div>
      {text !== null && <pre>{text.slice(0, SHOWN_CHARS)}</pre>}
      {text !== null && text.length > SHOWN_CHARS && (
        <p class="quiet">
          The first {count(SHOWN_CHARS)} of {count(text.length)} characters. The export has all of them.
        </p>
      )}
    </Peek>
  )
}
