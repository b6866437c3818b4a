// The forms of a budget and of an increase.
import { useState } from 'preact/hooks'
import { gatewayTime } from '../../api/gateway-time.ts'
import type { Got } from '../../api/query.ts'
import { useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { CheckField, Form, SelectField, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'

export type Budget = Got<'/api/budgets'>['data'][number]
type Body = NonNullable<paths['/api/budgets']['post']['requestBody']>['content']['application/json']
type Increase = NonNullable<paths['/api/budgets/{id}/increase']['post']['requestBody']>['content']['application/json']

const WINDOWS = ['hourly', 'daily', 'weekly', 'monthly', 'yearly', 'lifetime'].map((one) => [one, one] as const)
const SCOPES = [
  ['org', 'the organization'],
  ['key', 'one key'],
  ['virtual_model', 'one virtual model'],
] as const

interface BudgetFormProps {
  of?: Budget
  submit: string
  onSubmit: (body: Body) => Promise<unknown>
  onCancel: () => void
}

export function BudgetForm({ of: budget, submit, onSubmit, onCancel }: BudgetFormProps) {
  const [scope, setScope] = useState<string>(budget?.scope ?? 'org')
  const [entity, setEntity] = useState(String(budget?.entity_id ?? ''))
  const [window, setWindow] = useState<string>(budget?.window ?? 'monthly')
  const [limit, setLimit] = useState(String(budget?.hard_limit_usd ?? ''))
  const [enabled, setEnabled] = useState(budget?.enabled ?? true)
  const keys = useGet('/api/keys')
  const models = useGet('/api/virtual-models')
  const entities: (readonly [string, string])[] =
    scope === 'key'
      ? (keys.data?.data ?? []).map(({ id, label }) => [String(id), label])
      : (models.data?.data ?? []).map(({ id, name }) => [String(id), name])
  const send = (): Promise<unknown> =>
    onSubmit({
      scope: scope as Body['scope'],
      ...(scope !== 'org' && { entity_id: entity === '' ? null : Number(entity) }),
      window: window as Body['window'],
      hard_limit_usd: numberOf(limit) as number,
      enabled,
    })
  return (
    <Form submit={submit} onSubmit={send} onCancel={onCancel}>
      {budget === undefined && <SelectField name="scope" label="Of" options={SCOPES} value={scope} onInput={setScope} />}
      {budget === undefined && scope !== 'org' && (
        <SelectField
          name="entity_id"
          label={scope === 'key' ? 'Key' : 'Virtual model'}
          options={[['', 'select'], ...entities]}
          value={entity}
          onInput={setEntity}
        />
      )}
      <div class="form-row">
        <SelectField name="window" label="Window" options={WINDOWS} value={window} onInput={setWindow} />
        <TextField name="hard_limit_usd" label="Limit, USD" type="number" value={limit} onInput={setLimit} />
      </div>
      <CheckField name="enabled" label="Enabled" value={enabled} onInput={setEnabled} />
    </Form>
  )
}

const DAY_MS = 86_400_000

export function IncreaseForm({ onSubmit, onCancel }: { onSubmit: (body: Increase) => Promise<unknown>; onCancel: () => void }) {
  const [amount, setAmount] = useState('')
  const [until, setUntil] = useState(() => new Date(gatewayTime() + DAY_MS).toISOString().slice(0, 16))
  const [reason, setReason] = useState('')
  const send = (): Promise<unknown> =>
    onSubmit({
      amount_usd: numberOf(amount) ?? undefined,
      expires_at: until === '' ? '' : new Date(`${until}Z`).toISOString(),
      reason: reason.trim() === '' ? null : reason.trim(),
    })
  return (
    <Form submit="Raise" onSubmit={send} onCancel={onCancel}>
      <div class="form-row">
        <TextField name="amount_usd" label="By, USD" type="number" value={amount} onInput={setAmount} />
        <TextField name="expires_at" label="Until, UTC" type="datetime-local" value={until} onInput={setUntil} />
      </div>
      <TextField name="reason" label="Reason" hint="It stands in the audit log." value={reason} onInput={setReason} />
    </Form>
  )
}
