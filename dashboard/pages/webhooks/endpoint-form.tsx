import { useState } from 'preact/hooks'
import type { Got } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { Field, Form, SelectField, TextField } from '../../ui/form.tsx'
import { EVENTS } from './events.ts'

export type Endpoint = Got<'/api/webhooks/endpoints'>['data'][number]
type Body = NonNullable<paths['/api/webhooks/endpoints']['post']['requestBody']>['content']['application/json']

interface EndpointFormProps {
  of?: Endpoint
  submit: string
  onSubmit: (body: Body) => Promise<unknown>
  onCancel: () => void
}

const FORMATS = [
  ['standard', 'signed JSON'],
  ['slack', 'Slack message'],
  ['discord', 'Discord message'],
] as const

export function EndpointForm({ of: endpoint, submit, onSubmit, onCancel }: EndpointFormProps) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [format, setFormat] = useState<string>(endpoint?.format ?? 'standard')
  const [types, setTypes] = useState<readonly string[]>(endpoint?.event_types ?? [])
  const send = (): Promise<unknown> =>
    onSubmit({
      url,
      format: format as Body['format'],
      ...(types.length > 0 && { event_types: types as Body['event_types'] }),
    } as Body)
  return (
    <Form submit={submit} onSubmit={send} onCancel={onCancel}>
      <TextField name="url" label="Address" type="url" placeholder="https://hooks.example.com/in" value={url} onInput={setUrl} />
      <SelectField name="format" label="Format" options={FORMATS} value={format} onInput={setFormat} />
      <Field name="event_types" label="Events" hint="None selected: those that are on by default">
        {({ id, ...described }) => (
          <div class="event-types" id={id} {...described} role="group" aria-label="Events">
            {EVENTS.map(([type]) => (
              <label key={type}>
                <input
                  type="checkbox"
                  checked={types.includes(type)}
                  onChange={() => setTypes(types.includes(type) ? types.filter((one) => one !== type) : [...types, type])}
                />{' '}
                {type}
              </label>
            ))}
          </div>
        )}
      </Field>
    </Form>
  )
}
