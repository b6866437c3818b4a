import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { mount } from '../../app/mount.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { NewSecret } from '../../ui/new-secret.tsx'
import { Empty, Facts, Loading, Page, Peek } from '../../ui/page.tsx'
import { PluginPanels } from '../../ui/plugin-panels.tsx'
import { Owner } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { type Key, KeyForm } from './key-form.tsx'
import { PermissionTest } from './permission-test.tsx'

export default function Keys() {
  const keys = useGet('/api/keys')
  const usage = useGet('/api/usage', { query: { window: '24h' } })
  const [secret, setSecret] = useState<{ label: string; key: string } | null>(null)
  const adding = address.value.get('add') !== null
  const open = Number(address.value.get('open'))
  const requests = new Map((usage.data?.by_key ?? []).map(({ key, requests }) => [key, requests]))
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
        {({ data }) => {
          const shown = data.find(({ id }) => id === open)
          return data.length === 0 ? (
            <Empty title="No client key yet">
              <p>Clients of /v1 send one in the header Authorization. A key has its own models, limits and budget.</p>
            </Empty>
          ) : (
            <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
              <section class="panel">
                <AddressNote name="open" shown={shown?.id} />
                <Table
                  label="Keys"
                  rows={data}
                  rowKey={({ id }) => id}
                  selected={open}
                  onOpen={({ id }) => setQuery({ open: id === open ? null : String(id) })}
                  columns={[
                    { id: 'label', title: 'Label', cell: ({ label }) => label || UNKNOWN },
                    { id: 'hint', title: 'Key', cell: ({ key_hint }) => <code>{key_hint}</code> },
                    {
                      id: 'models',
                      title: 'Models',
                      wide: true,
                      cell: ({ allowed_models }) => (allowed_models.length === 0 ? 'all' : allowed_models.join(', ')),
                    },
                    {
                      id: 'rpm',
                      title: 'Requests/min',
                      numeric: true,
                      wide: true,
                      cell: ({ rate_limit_rpm }) => (rate_limit_rpm === null ? 'no limit' : count(rate_limit_rpm)),
                    },
                    {
                      id: 'tpm',
                      title: 'Tokens/min',
                      numeric: true,
                      wide: true,
                      cell: ({ rate_limit_tpm }) => (rate_limit_tpm === null ? 'no limit' : count(rate_limit_tpm)),
                    },
                    {
                      id: 'requests',
                      title: 'Requests 24 h',
                      numeric: true,
                      cell: ({ label }) => count(requests.get(label) ?? 0),
                    },
                    {
                      id: 'owner',
                      title: 'Owner',
                      wide: true,
                      cell: ({ managed_by, label }) =>
                        managed_by === 'config' ? <Owner managedBy={managed_by} name={`keys.${label}`} /> : 'API',
                    },
                  ]}
                />
              </section>
              {shown !== undefined && (
                <KeyPeek key={shown.id} of={shown} onSecret={(key) => setSecret({ label: shown.label, key })} />
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
          firstCall={`export HOOKGATE_KEY=${secret.key}\ncurl ${location.origin}${mount}/v1/models -H "Authorization: Bearer $HOOKGATE_KEY"`}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}

function KeyPeek({ of: key, onSecret }: { of: Key; onSecret: (key: string) => void }) {
  const [editing, setEditing] = useState(false)
  const params = { path: { id: String(key.id) } } as never
  const close = (): void => setQuery({ open: null })
  const locked = key.managed_by === 'config'
  const rotate = async (): Promise<void> => {
    if (!confirm(`Replace the secret of “${key.label}”? The old one stops working at once.`)) return
    const made = await answerOf(api.POST('/api/keys/{id}/rotate', { params }))
    onSecret(made.key)
    await invalidate('/api/keys')
  }
  const revoke = async (): Promise<void> => {
    if (!confirm(`Revoke “${key.label}”? Its requests are refused at once. This cannot be undone.`)) return
    await answerOf(api.DELETE('/api/keys/{id}', { params }))
    close()
    await invalidate('/api/keys')
  }
  return (
    <Peek title={key.label || key.key_hint} onClose={close}>
      {locked && <Owner managedBy="config" name={`keys.${key.label}`} />}
      {editing ? (
        <KeyForm
          of={key}
          submit="Save"
          onCancel={() => setEditing(false)}
          onSubmit={async (body) => {
            await answerOf(api.PATCH('/api/keys/{id}', { params, body }))
            setEditing(false)
            await invalidate('/api/keys')
          }}
        />
      ) : (
        <Facts
          facts={[
            ['Key', <code key="hint">{key.key_hint}</code>],
            ['Models', key.allowed_models.length === 0 ? 'all' : key.allowed_models.join(', ')],
            ['Requests per minute', key.rate_limit_rpm === null ? 'no limit' : count(key.rate_limit_rpm)],
            ['Tokens per minute', key.rate_limit_tpm === null ? 'no limit' : count(key.rate_limit_tpm)],
            [
              'Budget of a session',
              key.session_budget_usd === null ? 'none' : <Money key="budget" usd={key.session_budget_usd} />,
            ],
            ['Cost center', key.cost_center ?? UNKNOWN],
            ['Guardrails', key.guardrails_exempt ? 'exempt' : 'apply'],
            ['Expires', key.expires_at === null ? 'never' : <Time key="expires" at={key.expires_at} />],
            ['Created', <Time key="created" at={key.created_at} />],
          ]}
        />
      )}
      <Limits of={key} />
      <PluginPanels slot="key" id={key.id} />
      <PermissionTest allowed={key.allowed_models} />
      {may('manage') && !editing && (
        <div class="actions">
          {!locked && <Button onClick={() => setEditing(true)}>Edit</Button>}
          {!locked && <Button onClick={rotate}>Rotate</Button>}
          {!locked && (
            <Button kind="danger" onClick={revoke}>
              Revoke
            </Button>
          )}
        </div>
      )}
    </Peek>
  )
}

/** The tightest budget over this key, whoever it belongs to. */
function Limits({ of: key }: { of: Key }) {
  const budgets = useGet('/api/budgets')
  const over = (budgets.data?.data ?? []).filter(
    ({ scope, entity_id, enabled }) => enabled && (scope === 'org' || (scope === 'key' && entity_id === key.id)),
  )
  const tightest = over.sort((a, b) => a.remaining_usd - b.remaining_usd)[0]
  if (tightest === undefined) return <p class="quiet">No budget applies to this key.</p>
  return (
    <p>
      Tightest budget: <Money usd={tightest.remaining_usd} /> left of <Money usd={tightest.effective_limit_usd} />,{' '}
      {tightest.window}, {tightest.scope === 'org' ? 'of the organization' : 'of this key'}
    </p>
  )
}
