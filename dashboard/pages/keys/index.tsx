import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { mount } from '../../app/mount.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { ThisReplica } from '../../ui/notes/this-replica.tsx'
import { TruncatedNotice } from '../../ui/notes/truncated-notice.tsx'
import { Empty, Loading, Page } from '../../ui/page.tsx'
import { NewSecret } from '../../ui/rows/new-secret.tsx'
import { OwnerCell } from '../../ui/rows/owner-cell.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/text.tsx'
import { KeyForm } from './key-form.tsx'
import { Expiry, KeyPeek } from './key-peek.tsx'
import { ratesOf, useRates } from './rates.ts'
import { TightestCell, tightestOf } from './tightest-budget.tsx'

const PAGE = 100
const MOST_ID = 1e15
/** The most that the server takes. */
const LONGEST = 200
const FIRST_CALL = `curl ${location.origin}${mount}/v1/models -H "Authorization: Bearer $HOOKGATE_KEY"`

export default function Keys() {
  const search = address.value.get('q') ?? ''
  const cursor = /^\d{1,15}$/.exec(address.value.get('cursor') ?? '')?.[0] ?? null
  const keys = useGet('/api/keys', {
    query: { limit: PAGE, ...(search !== '' && { q: search.slice(0, LONGEST) }), ...(cursor !== null && { cursor }) },
  })
  const usage = useGet('/api/usage', { query: { window: '24h' } })
  const budgets = useGet('/api/budgets')
  const [secret, setSecret] = useState<{ label: string; key: string } | null>(null)
  const adding = address.value.get('add') !== null
  const open = Number(address.value.get('open'))
  const listed = keys.data?.data.find(({ id }) => id === open)
  // A key of another page: the first one after the id before it.
  const asks = keys.data !== undefined && listed === undefined && open > 0 && open < MOST_ID
  const elsewhere = useGet(asks ? '/api/keys' : null, { query: { limit: 1, cursor: open - 1 } })
  const shown = listed ?? elsewhere.data?.data.find(({ id }) => id === open)
  const rates = useRates(keys.data?.data ?? [], shown)
  const used = new Map((usage.data?.by_key ?? []).map((row) => [row.key_id, row]))
  const created = async (made: { label: string; key: string }): Promise<void> => {
    setQuery({ add: null })
    setSecret(made)
    await invalidate('/api/keys')
  }
  return (
    <Page
      title="Keys"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1' }, { replace: false })}>
            Create a key
          </Button>
        )
      }
    >
      <Loading of={keys}>
        {({ data, total, next_cursor }) => {
          const none = data.length === 0 && search === '' && cursor === null
          return none ? (
            <section class="panel">
              <Empty title="No client key yet">
                <p>Clients of /v1 send one in the header Authorization. A key has its own models, limits and budget.</p>
              </Empty>
            </section>
          ) : (
            <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
              <section class="panel">
                {usage.data?.truncated && <TruncatedNotice />}
                {!elsewhere.loading && <AddressNote name="open" shown={shown?.id} />}
                <AddressNote name="cursor" shown={cursor} />
                <div class="key-search">
                  <input
                    class="filter-input"
                    type="search"
                    data-filter
                    aria-label="Search keys"
                    placeholder="label, cost center, end of the key"
                    maxLength={LONGEST}
                    value={search}
                    onInput={(event) => setQuery({ q: event.currentTarget.value, cursor: null })}
                  />
                  <span class="quiet">
                    {count(total)} {total === 1 ? 'key' : 'keys'} <ThisReplica shared />
                  </span>
                </div>
                {data.length === 0 && <Empty title="No key fits" />}
                <Table
                  label="Keys"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={open}
                  onOpen={({ id }) => setQuery({ open: id === open ? null : String(id) })}
                  columns={[
                    {
                      id: 'label',
                      title: 'Label',
                      cell: (key) => (
                        <>
                          {key.label || UNKNOWN} <Expiry of={key} />
                        </>
                      ),
                    },
                    { id: 'hint', title: 'Key', cell: ({ key_hint }) => <code>{key_hint}</code> },
                    {
                      id: 'models',
                      title: 'Models',
                      wide: true,
                      cell: ({ allowed_models }) => (allowed_models.length === 0 ? 'all' : allowed_models.join(', ')),
                    },
                    { id: 'rates', title: 'Limits a minute', wide: true, cell: (key) => ratesOf(key, rates.get(key.id)) },
                    {
                      id: 'budget',
                      title: 'Tightest budget',
                      wide: true,
                      cell: (key) => <TightestCell of={tightestOf(key, budgets.data?.data ?? [])} />,
                    },
                    { id: 'center', title: 'Cost center', wide: true, cell: ({ cost_center }) => cost_center ?? UNKNOWN },
                    {
                      id: 'requests',
                      title: 'Requests 24 h',
                      numeric: true,
                      cell: ({ id }) => (usage.data === undefined ? UNKNOWN : count(used.get(id)?.requests ?? 0)),
                    },
                    {
                      id: 'last',
                      title: 'Last used',
                      wide: true,
                      cell: ({ id }) => {
                        const at = used.get(id)?.last_at
                        if (at == null) return <span class="quiet">{usage.data === undefined ? UNKNOWN : 'not in 24 h'}</span>
                        return <Ago at={at} />
                      },
                    },
                    {
                      id: 'owner',
                      title: 'Owner',
                      wide: true,
                      cell: ({ managed_by, config_key }) => <OwnerCell managedBy={managed_by} section="keys" name={config_key} />,
                    },
                  ]}
                />
                {(cursor !== null || next_cursor !== null) && (
                  <div class="actions">
                    {cursor !== null && <Button onClick={() => setQuery({ cursor: null })}>First page</Button>}
                    {next_cursor !== null && <Button onClick={() => setQuery({ cursor: next_cursor })}>Next page</Button>}
                  </div>
                )}
              </section>
              {shown !== undefined && (
                <KeyPeek
                  key={shown.id}
                  of={shown}
                  rates={rates.get(shown.id)}
                  onSecret={(key) => setSecret({ label: shown.label, key })}
                />
              )}
            </div>
          )
        }}
      </Loading>
      {adding && (
        <Dialog title="Create a key" onClose={() => setQuery({ add: null })}>
          <KeyForm
            submit="Create"
            onCancel={() => setQuery({ add: null })}
            onSubmit={async (body) => created(await answerOf(api.POST('/api/keys', { body })))}
          />
        </Dialog>
      )}
      {secret !== null && (
        <NewSecret
          label={secret.label}
          secret={secret.key}
          firstCall={`export HOOKGATE_KEY=${secret.key}\n${FIRST_CALL}`}
          snippet={FIRST_CALL}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}
