// One connection: its state, what it may do, its quota, and the levers.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { now } from '../../app/clock.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { ThisReplica } from '../../ui/notes/this-replica.tsx'
import { Facts, Notice, Peek } from '../../ui/page.tsx'
import { PluginPanels } from '../../ui/plugins/plugin-panels.tsx'
import { ALL_MODELS, type Connection, ConnectionStatus, rawState } from '../../ui/rows/connection-status.tsx'
import { Owner, Status } from '../../ui/status.tsx'
import { Ago, Time } from '../../ui/text.tsx'
import { AccountState } from './accounts.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { Quota } from './quota.tsx'
import { TestButton } from './test-button.tsx'

export function ConnectionPeek({ of: connection }: { of: Connection }) {
  const [editing, setEditing] = useState(false)
  const params = { path: { id: String(connection.id) } } as never
  const state = rawState(connection)
  const locked = connection.managed_by === 'config'
  const close = (): void => setQuery({ open: null })
  const change = async (body: object): Promise<void> => {
    await answerOf(api.PUT('/api/providers/{id}', { params, body }))
    await invalidate('/api/providers', '/api/attention')
  }
  const hold = async (): Promise<void> => {
    await answerOf(api.POST('/api/providers/{id}/locks', { params, body: { minutes: 60 } as never }))
    await invalidate('/api/providers', '/api/attention')
  }
  const unlock = async (model?: string): Promise<void> => {
    await answerOf(
      api.DELETE('/api/providers/{id}/locks', {
        params: { path: { id: String(connection.id) }, query: model === undefined ? {} : { model } } as never,
      }),
    )
    await invalidate('/api/providers', '/api/attention')
  }
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete ${connection.provider}/${connection.label}? Its credential is removed with it.`)) return
    await answerOf(api.DELETE('/api/providers/{id}', { params }))
    close()
    await invalidate('/api/providers', '/api/attention')
  }
  const error = typeof state.last_error === 'object' ? state.last_error : null
  return (
    <Peek title={`${connection.provider}/${connection.label}`} onClose={close}>
      {locked && <Owner managedBy="config" name={`connections.${connection.config_key}`} />}
      {editing ? (
        <ConnectionForm
          of={connection}
          submit="Save"
          onCancel={() => setEditing(false)}
          onSubmit={async (body) => {
            await change(body)
            setEditing(false)
          }}
        />
      ) : (
        <Facts
          facts={[
            ['State', <ConnectionStatus key="state" connection={connection} />],
            [
              'Circuit',
              `${(state.breaker ?? 'closed').replaceAll('_', ' ')}, ${count(state.consecutive_failures ?? 0)} failures in a row`,
            ],
            [
              'Cooldown',
              state.cooldown_until == null || Date.parse(state.cooldown_until) <= now.value ? (
                'none'
              ) : (
                <span key="cooldown">
                  ends <Ago at={state.cooldown_until} />
                </span>
              ),
            ],
            [
              'Running',
              <span key="running">
                {count(state.inflight ?? 0)}
                {connection.max_inflight === null ? '' : ` of ${count(connection.max_inflight)}`} <ThisReplica />
              </span>,
            ],
            ['Last used', <Time key="used" at={state.last_used_at} />],
            ['Credential', connection.has_api_key ? (connection.api_key_hint ?? 'set') : 'none'],
            ['Address', connection.base_url ?? 'of the provider'],
            ['Format', connection.wire_format ?? 'of the provider'],
            ['Models', connection.allowed_models.length === 0 ? 'all' : connection.allowed_models.join(', ')],
            ['Default model', connection.default_model ?? UNKNOWN],
            ['Priority', String(connection.priority)],
            ['Proxy', connection.proxy_url ?? 'none'],
            ['Policy', <Policy key="policy" of={connection.provider} />],
          ]}
        />
      )}
      {error?.message !== undefined && (
        <Notice tone="warning">
          Last error{error.status == null ? '' : ` ${error.status}`}: {error.message}{' '}
          {error.at !== undefined && <Ago at={error.at} />}
        </Notice>
      )}
      {(state.model_locks ?? []).length > 0 && (
        <section>
          <h3>Locked models</h3>
          <ul class="stack-tight">
            {(state.model_locks ?? []).map(({ model, until }) => (
              <li key={model}>
                <Status tone="waiting">{model === ALL_MODELS ? 'all models' : model}</Status>{' '}
                {until !== null && <Ago at={until} />} {may('manage') && <Button onClick={() => unlock(model)}>Unlock</Button>}
              </li>
            ))}
          </ul>
        </section>
      )}
      <SignedIn of={connection.id} />
      <Quota of={connection.id} />
      <PluginPanels slot="connection" id={connection.id} />
      {may('manage') && !editing && (
        <>
          <TestButton id={connection.id} />
          <div class="actions">
            {(state.model_locks ?? []).length > 0 && <Button onClick={() => unlock()}>Clear all locks</Button>}
            {locked && !(state.model_locks ?? []).some(({ model }) => model === ALL_MODELS) && (
              <Button onClick={hold}>Lock for an hour</Button>
            )}
            {!locked && (
              <Button onClick={() => change({ enabled: !connection.enabled })}>
                {connection.enabled ? 'Disable' : 'Enable'}
              </Button>
            )}
            {!locked && <Button onClick={() => setEditing(true)}>Edit</Button>}
            {!locked && (
              <Button kind="danger" onClick={remove}>
                Delete
              </Button>
            )}
          </div>
        </>
      )}
      <a href={href(`/requests?filter=${encodeURIComponent(`provider:${connection.provider}`)}`)}>Requests to this provider</a>
    </Peek>
  )
}

/** The account behind the connection, where it has a sign-in instead of a key. */
function SignedIn({ of: id }: { of: number }) {
  const accounts = useGet('/api/oauth/accounts')
  const account = accounts.data?.data.find((one) => one.id === id)
  if (account === undefined) return null
  return (
    <section>
      <h3>Account</h3>
      <p>
        {account.email ?? account.display_name ?? account.provider} <AccountState of={account} />{' '}
        <a href={href(`/connections?tab=sign-ins&open=${id}`)}>Its tokens</a>
      </p>
    </section>
  )
}

function Policy({ of: provider }: { of: string }) {
  const policy = useGet('/api/policy')
  const found = policy.data?.data.find(({ provider_id }) => provider_id === provider)
  if (found === undefined) return <span>{policy.data === undefined ? UNKNOWN : 'no rule'}</span>
  const { effective, mode, verdict, reason } = found
  return (
    <span>
      {effective === 'blocked' ? <Status tone="refused">blocked</Status> : <Status tone="ok">allowed</Status>}{' '}
      <span class="quiet">
        mode {mode}, verdict {verdict}
        {reason !== null && `: ${reason}`}
      </span>
    </span>
  )
}
