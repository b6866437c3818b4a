// Management tokens: for programs that call the control plane.

import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { mount } from '../../app/mount.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../../ui/form.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { NewSecret } from '../../ui/rows/new-secret.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'

export function Tokens() {
  const tokens = useGet('/api/tokens')
  const [secret, setSecret] = useState<{ label: string; token: string } | null>(null)
  const revoke = async (id: number, label: string): Promise<void> => {
    if (!confirm(`Revoke “${label}”? Programs that use it are refused at once.`)) return
    await answerOf(api.DELETE('/api/tokens/{id}', { params: { path: { id: String(id) } } as never }))
    await invalidate('/api/tokens')
  }
  return (
    <Panel
      title="Management tokens"
      actions={
        <Button kind="primary" onClick={() => setQuery({ add: '1' })}>
          Create a token
        </Button>
      }
    >
      <Loading of={tokens}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No management token yet">
              <p>Programs that call /api send one in the header Authorization.</p>
            </Empty>
          ) : (
            <Table
              label="Management tokens"
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { id: 'label', title: 'Label', cell: ({ label }) => label },
                { id: 'hint', title: 'Token', wide: true, cell: ({ token_hint }) => <code>{token_hint}</code> },
                { id: 'scope', title: 'May', cell: ({ scope }) => scope },
                { id: 'by', title: 'Created by', wide: true, cell: ({ created_by }) => created_by },
                {
                  id: 'expires',
                  title: 'Expires',
                  wide: true,
                  cell: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />),
                },
                {
                  id: 'used',
                  title: 'Last used',
                  cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />),
                },
                {
                  id: 'revoke',
                  title: '',
                  cell: ({ id, label }) => (
                    <Button kind="danger" onClick={() => revoke(id, label)}>
                      Revoke
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loading>
      {address.value.get('add') !== null && <Create onMade={setSecret} />}
      {secret !== null && (
        <NewSecret
          label={secret.label}
          secret={secret.token}
          firstCall={`export HOOKGATE_TOKEN=${secret.token}\ncurl ${location.origin}${mount}/api/auth/me -H "Authorization: Bearer $HOOKGATE_TOKEN"`}
          onClose={() => setSecret(null)}
        />
      )}
    </Panel>
  )
}

const SCOPES = [
  ['read', 'read'],
  ['manage', 'read and change'],
] as const

function Create({ onMade }: { onMade: (made: { label: string; token: string }) => void }) {
  const [label, setLabel] = useState('')
  const [scope, setScope] = useState<string>('read')
  const [expires, setExpires] = useState('')
  const close = (): void => setQuery({ add: null })
  const send = async (): Promise<void> => {
    const expires_at = expires === '' ? null : new Date(`${expires}Z`).toISOString()
    onMade(await answerOf(api.POST('/api/tokens', { body: { label, scope: scope as 'read' | 'manage', expires_at } })))
    close()
    await invalidate('/api/tokens')
  }
  return (
    <Dialog title="Create a token" onClose={close}>
      <Form submit="Create" onCancel={close} onSubmit={send}>
        <TextField name="label" label="Label" value={label} onInput={setLabel} />
        <SelectField name="scope" label="May" options={SCOPES} value={scope} onInput={setScope} />
        <TextField
          name="expires_at"
          label="Expires, UTC"
          type="datetime-local"
          hint="Empty: never"
          value={expires}
          onInput={setExpires}
        />
      </Form>
    </Dialog>
  )
}
