// Edits one connection. The key stays unless another one is typed.
import { useState } from 'preact/hooks'
import { Form, SelectField, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'
import type { Connection } from '../../ui/rows/connection-status.tsx'

interface ConnectionFormProps {
  of: Connection
  submit: string
  onSubmit: (body: object) => Promise<unknown>
  onCancel: () => void
}

const FORMATS = [
  ['', 'of the provider'],
  ['chat', 'chat completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['generate_content', 'generate content'],
] as const

export function ConnectionForm({ of: connection, submit, onSubmit, onCancel }: ConnectionFormProps) {
  const [label, setLabel] = useState(connection.label)
  const [key, setKey] = useState('')
  const [address, setAddress] = useState(connection.base_url ?? '')
  const [format, setFormat] = useState<string>(connection.wire_format ?? '')
  const [models, setModels] = useState(connection.allowed_models.join(', '))
  const [priority, setPriority] = useState(String(connection.priority))
  const [inflight, setInflight] = useState(String(connection.max_inflight ?? ''))
  const [defaultModel, setDefaultModel] = useState(connection.default_model ?? '')
  const [proxy, setProxy] = useState(connection.proxy_url ?? '')
  const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())
  const send = (): Promise<unknown> =>
    onSubmit({
      label,
      ...(key !== '' && { api_key: key }),
      base_url: orNull(address),
      wire_format: orNull(format),
      allowed_models: models.split(/[\s,]+/).filter(Boolean),
      priority: numberOf(priority),
      max_inflight: numberOf(inflight),
      ...(proxy.trim() !== (connection.proxy_url ?? '') && { proxy_url: orNull(proxy) }),
      default_model: orNull(defaultModel),
    })
  return (
    <Form submit={submit} onSubmit={send} onCancel={onCancel}>
      <TextField name="label" label="Label" value={label} onInput={setLabel} />
      <TextField
        name="api_key"
        label="Credential"
        type="password"
        autocomplete="off"
        hint="Empty: it stays as it is"
        value={key}
        onInput={setKey}
      />
      <TextField
        name="base_url"
        label="Address"
        type="url"
        hint="Empty: the provider’s own"
        value={address}
        onInput={setAddress}
      />
      <div class="form-row">
        <SelectField name="wire_format" label="Format" options={FORMATS} value={format} onInput={setFormat} />
        <TextField name="default_model" label="Default model" value={defaultModel} onInput={setDefaultModel} />
      </div>
      <TextField name="allowed_models" label="Models" hint="Empty: all" value={models} onInput={setModels} />
      <div class="form-row">
        <TextField
          name="priority"
          label="Priority"
          type="number"
          hint="The smallest comes first"
          value={priority}
          onInput={setPriority}
        />
        <TextField
          name="max_inflight"
          label="Running at most"
          type="number"
          hint="Empty: no limit"
          value={inflight}
          onInput={setInflight}
        />
      </div>
      <TextField
        name="proxy_url"
        label="Proxy"
        type="url"
        hint="Empty: none, or the one of a pool. Credentials in it are masked."
        value={proxy}
        onInput={setProxy}
      />
    </Form>
  )
}
