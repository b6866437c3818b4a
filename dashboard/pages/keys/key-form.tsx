// Creates or edits a key.
import { useState } from 'preact/hooks'
import type { Got } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { CheckField, Form, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'

export type Key = Got<'/api/keys'>['data'][number]
type Body = NonNullable<paths['/api/keys']['post']['requestBody']>['content']['application/json']

interface KeyFormProps {
  of?: Key
  submit: string
  onSubmit: (body: Body) => Promise<unknown>
  onCancel: () => void
}

export function KeyForm({ of: key, submit, onSubmit, onCancel }: KeyFormProps) {
  const [label, setLabel] = useState(key?.label ?? '')
  const [models, setModels] = useState(key?.allowed_models.join(', ') ?? '')
  const [rpm, setRpm] = useState(String(key?.rate_limit_rpm ?? ''))
  const [tpm, setTpm] = useState(String(key?.rate_limit_tpm ?? ''))
  const [session, setSession] = useState(String(key?.session_budget_usd ?? ''))
  const [center, setCenter] = useState(key?.cost_center ?? '')
  const [expires, setExpires] = useState(key?.expires_at?.slice(0, 16) ?? '')
  const [exempt, setExempt] = useState(key?.guardrails_exempt ?? false)
  const [shadowOptOut, setShadowOptOut] = useState(key?.shadow_opt_out ?? false)
  const send = (): Promise<unknown> =>
    onSubmit({
      label,
      allowed_models: models.split(/[\s,]+/).filter(Boolean),
      rate_limit_rpm: numberOf(rpm),
      rate_limit_tpm: numberOf(tpm),
      session_budget_usd: numberOf(session),
      cost_center: center.trim() === '' ? null : center.trim(),
      expires_at: expires === '' ? null : new Date(`${expires}Z`).toISOString(),
      guardrails_exempt: exempt,
      shadow_opt_out: shadowOptOut,
    })
  return (
    <Form submit={submit} onSubmit={send} onCancel={onCancel}>
      <TextField name="label" label="Label" hint="Who or what uses it" value={label} onInput={setLabel} />
      <TextField
        name="allowed_models"
        label="Models"
        hint="Names or patterns, for example coder, openai/*. Empty: all models."
        value={models}
        onInput={setModels}
      />
      <div class="form-row">
        <TextField
          name="rate_limit_rpm"
          label="Requests per minute"
          type="number"
          hint="Empty: no limit"
          value={rpm}
          onInput={setRpm}
        />
        <TextField
          name="rate_limit_tpm"
          label="Tokens per minute"
          type="number"
          hint="Empty: no limit"
          value={tpm}
          onInput={setTpm}
        />
      </div>
      <div class="form-row">
        <TextField
          name="session_budget_usd"
          label="Budget of a session, USD"
          type="number"
          value={session}
          onInput={setSession}
        />
        <TextField name="cost_center" label="Cost center" value={center} onInput={setCenter} />
      </div>
      <TextField
        name="expires_at"
        label="Expires, UTC"
        type="datetime-local"
        hint="Empty: never"
        value={expires}
        onInput={setExpires}
      />
      <CheckField name="guardrails_exempt" label="Exempt from guardrails" value={exempt} onInput={setExempt} />
      <CheckField
        name="shadow_opt_out"
        label="Never sample its requests for shadow evaluation"
        value={shadowOptOut}
        onInput={setShadowOptOut}
      />
    </Form>
  )
}
