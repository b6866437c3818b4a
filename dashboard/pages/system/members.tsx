// Members of the organization and open invitations.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { may, me } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, SelectField, TextField } from '../../ui/form.tsx'
import { Empty, Loading, Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/text.tsx'

type Member = Got<'/api/orgs/members'>['data'][number]
type Invitation = Got<'/api/orgs/invitations'>['data'][number]

export function Members() {
  return (
    <>
      <MemberList />
      {may('manage') && <Invitations />}
    </>
  )
}

function MemberList() {
  const members = useGet('/api/orgs/members')
  return (
    <Panel
      title="Members"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1' })}>
            Invite
          </Button>
        )
      }
    >
      <Loading of={members}>
        {({ data }) => (
          <Table
            label="Members"
            rows={data}
            rowKey={({ user_id }) => user_id}
            columns={[
              { id: 'email', title: 'E-mail address', cell: (member) => <Address {...member} /> },
              { id: 'name', title: 'Name', wide: true, cell: ({ name }) => name ?? '' },
              { id: 'role', title: 'Role', cell: (member) => <Role {...member} /> },
              { id: 'remove', title: '', cell: (member) => <Remove {...member} /> },
            ]}
          />
        )}
      </Loading>
      {address.value.get('add') !== null && may('manage') && <Invite />}
    </Panel>
  )
}

function Address({ email, email_verified, disabled }: Member) {
  const note = disabled ? 'disabled' : email_verified ? null : 'not verified'
  return (
    <>
      {email} {note !== null && <span class="quiet">{note}</span>}
    </>
  )
}

const ROLES = [
  ['member', 'member'],
  ['admin', 'admin'],
] as const

function Role({ user_id, email, role }: Member) {
  const [failure, setFailure] = useState<string | null>(null)
  if (role === 'owner' || !may('manage')) return <>{role}</>
  const change = async (next: string): Promise<void> => {
    setFailure(null)
    const params = { path: { id: String(user_id) } } as never
    const body = { role: next as 'member' | 'admin' }
    await answerOf(api.PATCH('/api/orgs/members/{id}', { params, body })).catch((error: Error) => setFailure(error.message))
    await invalidate('/api/orgs/members')
  }
  return (
    <>
      <select aria-label={`Role of ${email}`} value={role} onChange={(event) => change(event.currentTarget.value)}>
        {ROLES.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
      {failure !== null && (
        <span class="failure" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}

function Remove({ user_id, email, role }: Member) {
  if (role === 'owner' || !may('manage') || me.value?.user?.id === user_id) return null
  const remove = async (): Promise<void> => {
    if (!confirm(`Remove ${email}? Sessions and tokens of this person end here at once.`)) return
    await answerOf(api.DELETE('/api/orgs/members/{id}', { params: { path: { id: String(user_id) } } as never }))
    await invalidate('/api/orgs/members')
  }
  return (
    <Button kind="danger" label={`Remove ${email}`} onClick={remove}>
      Remove
    </Button>
  )
}

function Invite() {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<string>('member')
  const close = (): void => setQuery({ add: null })
  const send = async (): Promise<void> => {
    await answerOf(api.POST('/api/orgs/members', { body: { email, role: role as 'member' | 'admin' } }))
    close()
    await invalidate('/api/orgs/invitations')
  }
  return (
    <Dialog title="Invite a person" onClose={close}>
      <Form submit="Send the invitation" onCancel={close} onSubmit={send}>
        <TextField name="email" label="E-mail address" type="email" value={email} onInput={setEmail} />
        <SelectField
          name="role"
          label="Role"
          options={ROLES}
          value={role}
          onInput={setRole}
          hint="An admin changes settings, keys and members; a member looks."
        />
      </Form>
    </Dialog>
  )
}

function Invitations() {
  const invitations = useGet('/api/orgs/invitations')
  const revoke = async ({ id, email }: Invitation): Promise<void> => {
    if (!confirm(`Revoke the invitation of ${email}? Its link ends.`)) return
    await answerOf(api.DELETE('/api/orgs/invitations/{id}', { params: { path: { id: String(id) } } as never }))
    await invalidate('/api/orgs/invitations')
  }
  return (
    <Panel title="Invitations">
      <Loading of={invitations}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No open invitation" />
          ) : (
            <Table
              label="Invitations"
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { id: 'email', title: 'E-mail address', cell: ({ email }) => email },
                { id: 'role', title: 'Role', cell: ({ role }) => role },
                { id: 'expires', title: 'Expires', wide: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
                {
                  id: 'revoke',
                  title: '',
                  cell: (row) => (
                    <Button kind="danger" label={`Revoke the invitation of ${row.email}`} onClick={() => revoke(row)}>
                      Revoke
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
