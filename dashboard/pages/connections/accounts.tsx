// Accounts that are signed in to by OAuth: their state, and the sign-ins that the configuration allows.
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { UNKNOWN } from '../../app/format.ts'
import { query as address, href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Empty, Facts, Loading, Notice, Panel, Peek } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/text.tsx'
import { type OAuthProvider, SignIn } from './sign-in.tsx'

type Account = Got<'/api/oauth/accounts'>['data'][number]

const LOOK_MS = 15_000

export function Accounts() {
  const accounts = useGet('/api/oauth/accounts', {}, LOOK_MS)
  const providers = useGet('/api/oauth/providers')
  const open = Number(address.value.get('open'))
  const shown = accounts.data?.data.find(({ id }) => id === open)
  const wanted = address.value.get('signin')
  const signingIn = providers.data?.data.find(({ id }) => id === wanted)
  return (
    <>
      {accounts.data !== undefined && <AddressNote name="open" shown={shown?.id} />}
      {providers.data !== undefined && <AddressNote name="signin" shown={signingIn?.id} />}
      <div class={shown === undefined ? 'with-peek' : 'with-peek open'}>
        <Panel title="Accounts with a sign-in">
          <Loading of={accounts}>{({ data }) => <AccountTable of={data} open={open} />}</Loading>
        </Panel>
        {shown !== undefined && <AccountPeek key={shown.id} of={shown} />}
      </div>
      <Panel title="Sign in to a provider">
        <Loading of={providers}>{({ data }) => <Providers of={data} />}</Loading>
      </Panel>
      {signingIn !== undefined && may('manage') && <SignIn key={signingIn.id} to={signingIn} />}
    </>
  )
}

function nameOf({ email, display_name, id }: Account): string {
  return email ?? display_name ?? `account ${id}`
}

export function AccountState({ of: { status } }: { of: Account }) {
  return status === 'active' ? <Status tone="ok">signed in</Status> : <Status tone="failed">sign in again</Status>
}

function AccountTable({ of: data, open }: { of: readonly Account[]; open: number }) {
  if (data.length === 0)
    return (
      <Empty title="No account is signed in to">
        <p>An account with a sign-in is a connection without a key: its tokens are renewed by themselves.</p>
      </Empty>
    )
  return (
    <Table
      label="Accounts with a sign-in"
      rows={data}
      rowKey={({ id }) => id}
      selected={open}
      onOpen={({ id }) => setQuery({ open: id === open ? null : String(id) })}
      columns={[
        { id: 'name', title: 'Account', cell: nameOf },
        { id: 'provider', title: 'Provider', cell: ({ provider }) => provider },
        { id: 'state', title: 'State', cell: (account) => <AccountState of={account} /> },
        { id: 'plan', title: 'Plan', wide: true, cell: ({ plan }) => plan ?? UNKNOWN },
        { id: 'expires', title: 'Token ends', wide: true, cell: (account) => <Expiry of={account} /> },
        { id: 'refreshed', title: 'Renewed', wide: true, cell: ({ last_refresh_at }) => <Ago at={last_refresh_at} /> },
      ]}
    />
  )
}

function Expiry({ of: { expires_at } }: { of: Account }) {
  return expires_at === null ? <span>never</span> : <Ago at={expires_at} />
}

function AccountPeek({ of: account }: { of: Account }) {
  const { id, provider, status, plan, scopes, last_refresh_at, email, display_name } = account
  const params = { path: { id: String(id) } } as never
  const changed = (): Promise<void> => invalidate('/api/oauth/accounts', '/api/providers', '/api/attention')
  const renew = async (): Promise<void> => {
    await answerOf(api.POST('/api/oauth/accounts/{id}/refresh', { params })).finally(changed)
  }
  const signOut = async (): Promise<void> => {
    if (
      !confirm(`Sign out ${nameOf(account)}? Its tokens are revoked where the vendor allows it, and its connection is removed.`)
    )
      return
    await answerOf(api.DELETE('/api/oauth/accounts/{id}', { params }))
    setQuery({ open: null })
    await changed()
  }
  return (
    <Peek title={nameOf(account)} onClose={() => setQuery({ open: null })}>
      {status !== 'active' && (
        <Notice tone="warning">
          The vendor refused the refresh token: requests go to other connections. Sign in again with the same account, and it
          keeps its connection with priority and limits.
        </Notice>
      )}
      <Facts
        facts={[
          ['State', <AccountState key="state" of={account} />],
          ['Provider', provider],
          ['E-mail address', email ?? UNKNOWN],
          ['Name', display_name ?? UNKNOWN],
          ['Plan', plan ?? UNKNOWN],
          ['Access token ends', <Expiry key="ends" of={account} />],
          ['Last renewed', <Time key="renewed" at={last_refresh_at} />],
          ['Scopes', scopes.length === 0 ? 'none' : scopes.join(', ')],
        ]}
      />
      {may('manage') && (
        <div class="actions">
          <Button kind={status === 'active' ? 'normal' : 'primary'} onClick={() => setQuery({ signin: provider })}>
            Sign in again
          </Button>
          <Button onClick={renew}>Renew the token</Button>
          <Button kind="danger" onClick={signOut}>
            Sign out
          </Button>
        </div>
      )}
      <a href={href(`/connections?open=${id}`)}>Its connection</a>
    </Peek>
  )
}

const FLOWS: Record<OAuthProvider['flow'], string> = {
  pkce: 'with a browser',
  device: 'with a code',
  both: 'with a browser or a code',
}

function Providers({ of: data }: { of: readonly OAuthProvider[] }) {
  if (data.length === 0)
    return (
      <Empty title="No provider is configured for sign-in">
        <p>
          Register an OAuth client with the vendor, and add it to <code>oauthAccounts.clients</code> in gateway.config.ts.
        </p>
      </Empty>
    )
  return (
    <Table
      label="Providers with a sign-in"
      rows={data}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'name',
          title: 'Provider',
          cell: ({ id, name }) => (
            <>
              <strong>{name}</strong> <span class="quiet">{id}</span>
            </>
          ),
        },
        { id: 'flow', title: 'Sign-in', cell: ({ flow }) => FLOWS[flow] },
        { id: 'scopes', title: 'Scopes', wide: true, cell: ({ scopes }) => scopes.join(', ') || 'none' },
        {
          id: 'begin',
          title: '',
          cell: ({ id, name }) =>
            may('manage') && (
              <Button label={`Sign in to ${name}`} onClick={() => setQuery({ signin: id }, { replace: false })}>
                Sign in
              </Button>
            ),
        },
      ]}
    />
  )
}
