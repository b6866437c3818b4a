// One key: its limits, what it used, what it may do, and the levers.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { now } from '../../app/clock.ts'
import { count, UNKNOWN } from '../../app/format.ts'
import { href, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Facts, Peek } from '../../ui/page.tsx'
import { PluginPanels } from '../../ui/plugins/plugin-panels.tsx'
import { Owner, Status } from '../../ui/status.tsx'
import { Ago, Money, Time } from '../../ui/text.tsx'
import { type Key, KeyForm } from './key-form.tsx'
import { PermissionTest } from './permission-test.tsx'
import { type Rates, rateOf } from './rates.ts'
import { Tightest } from './tightest-budget.tsx'

interface KeyPeekProps {
  of: Key
  rates: Rates | undefined
  onSecret: (key: string) => void
}

export function KeyPeek({ of: key, rates, onSecret }: KeyPeekProps) {
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
      {locked && <Owner managedBy="config" name={`keys.${key.config_key}`} />}
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
            [
              'Requests per minute',
              key.rate_limit_rpm === null ? 'no limit of its own' : rateOf(key.rate_limit_rpm, rates?.requests_per_minute),
            ],
            [
              'Tokens per minute',
              key.rate_limit_tpm === null ? 'no limit' : rateOf(key.rate_limit_tpm, rates?.tokens_per_minute),
            ],
            ['Tightest budget', <Tightest key="tightest" of={key} />],
            [
              'Budget of a session',
              key.session_budget_usd === null ? 'none' : <Money key="budget" usd={key.session_budget_usd} />,
            ],
            ['Cost center', key.cost_center ?? UNKNOWN],
            ['Guardrails', key.guardrails_exempt ? 'exempt' : 'apply'],
            ['Shadow evaluation', key.shadow_opt_out ? 'never sampled' : 'sampled where it is on'],
            [
              'Expires',
              key.expires_at === null ? (
                'never'
              ) : (
                <span key="expires">
                  <Time at={key.expires_at} /> (<Ago at={key.expires_at} />)
                </span>
              ),
            ],
            ['Last 30 days', <LastMonth key="month" of={key} />],
            ['Created', <Time key="created" at={key.created_at} />],
          ]}
        />
      )}
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
      <a href={href(`/requests?filter=${encodeURIComponent(`key:${key.label}`)}`)}>Requests with this key</a>
    </Peek>
  )
}

function LastMonth({ of: { id } }: { of: Key }) {
  const usage = useGet('/api/usage', { query: { window: '30d' } })
  if (usage.data === undefined) return <span>{UNKNOWN}</span>
  const row = usage.data.by_key.find(({ key_id }) => key_id === id)
  if (row === undefined) return <span>not used</span>
  return (
    <span>
      {count(row.requests)} requests, <Money usd={row.cost_usd} />
      {row.unpriced_requests > 0 && `, ${count(row.unpriced_requests)} without a known price`}, last used <Ago at={row.last_at} />
    </span>
  )
}

export function Expiry({ of: { expires_at } }: { of: Key }) {
  if (expires_at === null || Date.parse(expires_at) > now.value) return null
  return <Status tone="refused">expired</Status>
}
