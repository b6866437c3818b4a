// One endpoint: its state, its settings and the levers.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import { count } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Facts, Notice, Peek } from '../../ui/page.tsx'
import { Owner } from '../../ui/status.tsx'
import { Ago, Time } from '../../ui/text.tsx'
import { type Endpoint, EndpointForm } from './endpoint-form.tsx'
import { EndpointState, Success } from './endpoint-state.tsx'

export function EndpointPeek({ of: endpoint, onSecret }: { of: Endpoint; onSecret: (secret: string) => void }) {
  const [editing, setEditing] = useState(false)
  const [sent, setSent] = useState<string | null>(null)
  const locked = endpoint.managed_by === 'config'
  const params = { path: { id: endpoint.id } } as never
  const close = (): void => setQuery({ open: null })
  const change = async (body: object): Promise<void> => {
    await answerOf(api.PUT('/api/webhooks/endpoints/{id}', { params, body }))
    await invalidate('/api/webhooks')
  }
  const rotate = async (): Promise<void> => {
    if (!confirm('Make a new secret? The old one signs beside it for 24 hours.')) return
    onSecret((await answerOf(api.POST('/api/webhooks/endpoints/{id}/rotate-secret', { params }))).secret)
    await invalidate('/api/webhooks')
  }
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete the endpoint ${endpoint.url}? Its waiting deliveries are dropped.`)) return
    await answerOf(api.DELETE('/api/webhooks/endpoints/{id}', { params }))
    close()
    await invalidate('/api/webhooks')
  }
  const test = async (): Promise<void> => {
    const { status, last_status, last_error } = await answerOf(api.POST('/api/webhooks/endpoints/{id}/test', { params }))
    setSent(`${status}${last_status === null ? '' : ` (${last_status})`}${last_error === null ? '' : `: ${last_error}`}`)
    await invalidate('/api/webhooks')
  }
  return (
    <Peek title={endpoint.url} onClose={close}>
      {locked && <Owner managedBy="config" name={`webhooks.${endpoint.config_key}`} />}
      {editing ? (
        <EndpointForm
          of={endpoint}
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
            ['State', <EndpointState key="state" of={endpoint} />],
            ['Delivered, 7 days', <Success key="success" of={endpoint} />],
            [
              'Not delivered',
              `${count(endpoint.recent.dead)} dead, ${count(endpoint.recent.failed)} given up, ${count(endpoint.recent.pending)} waiting`,
            ],
            ...(endpoint.failing_since === null
              ? []
              : ([
                  ['Failing since', <Time key="since" at={endpoint.failing_since} />],
                  ['Disabled by itself', <Ago key="off" at={endpoint.disables_at} />],
                ] as const)),
            ['Format', endpoint.format],
            ['Secret', endpoint.secret_hint ?? 'none'],
            ['Events', endpoint.event_types.length === 0 ? 'the usual' : endpoint.event_types.join(', ')],
            ['Created', <Time key="created" at={endpoint.created_at} />],
          ]}
        />
      )}
      {sent !== null && <Notice>The test event: {sent}</Notice>}
      {may('manage') && !editing && (
        <div class="actions">
          <Button onClick={test}>Send a test</Button>
          {(!locked || endpoint.auto_disabled_at !== null) && (
            <Button onClick={() => change({ enabled: !endpoint.enabled })}>{endpoint.enabled ? 'Disable' : 'Enable'}</Button>
          )}
          {!locked && <Button onClick={() => setEditing(true)}>Edit</Button>}
          <Button onClick={rotate}>New secret</Button>
          {!locked && (
            <Button kind="danger" onClick={remove}>
              Delete
            </Button>
          )}
        </div>
      )}
      <a href={href(`/webhooks?tab=deliveries&endpoint=${encodeURIComponent(endpoint.id)}`)}>Deliveries of this endpoint</a>
    </Peek>
  )
}
