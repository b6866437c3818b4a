// The request of a run: model, key and body. What the gateway refuses stands at its field.
import { useRef } from 'preact/hooks'
import { useGet } from '../../api/query.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, Field, Form, TextField } from '../../ui/form.tsx'
import { KeyOptions } from '../../ui/rows/key-options.tsx'

interface RequestFormProps {
  model: string
  streamed: boolean
  asKey: string
  text: string
  running: boolean
  onModel: (model: string) => void
  onStreamed: (streamed: boolean) => void
  onKey: (key: string) => void
  onText: (text: string) => void
  /** @throws ApiError naming `model`, `as_key` or `body` */
  onRun: () => Promise<void>
  onStop: () => void
  /** @throws ApiError */
  onDryRun: () => Promise<void>
}

export function RequestForm({ model, streamed, asKey, text, running, ...on }: RequestFormProps) {
  const models = useGet('/api/models')
  const place = useRef<HTMLDivElement>(null)
  /** The two submits of one form: the second only translates. */
  const dry = useRef(false)
  const submit = (isDry: boolean): void => {
    dry.current = isDry
    place.current?.querySelector('form')?.requestSubmit()
  }
  return (
    <div
      ref={place}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        submit(false)
      }}
    >
      <Form
        submit="Run"
        disabled={!may('manage')}
        onSubmit={async () => {
          const isDry = dry.current
          dry.current = false
          await (isDry ? on.onDryRun() : on.onRun())
        }}
      >
        <div class="form-row">
          <TextField
            name="model"
            label="Model"
            options={(models.data?.data ?? []).slice(0, 1000).map(({ id }) => id)}
            value={model}
            onInput={on.onModel}
          />
          <Field name="as_key" label="As key" hint="Its models, rates and budget apply.">
            {(attributes) => (
              <select
                {...attributes}
                disabled={!may('manage')}
                value={asKey}
                onChange={(event) => on.onKey(event.currentTarget.value)}
              >
                <KeyOptions />
              </select>
            )}
          </Field>
          <CheckField name="stream" label="Streamed" value={streamed} onInput={on.onStreamed} />
        </div>
        <TextField
          name="body"
          label="Request, without model and stream"
          rows={14}
          hint="This is a real request: it costs what it costs, and the log shows it with the source “playground”. Ctrl Enter runs it."
          value={text}
          onInput={on.onText}
        />
        <div class="actions">
          <Button title="Shows how the request is written in every dialect, without a call" onClick={() => submit(true)}>
            Dry run
          </Button>
          {running && <Button onClick={on.onStop}>Stop</Button>}
        </div>
      </Form>
    </div>
  )
}
