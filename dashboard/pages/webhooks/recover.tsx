// Sends again what an endpoint missed while it was away.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { gatewayTime } from '../../api/gateway-time.ts'
import { invalidate } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { count } from '../../app/format.ts'
import { Form, SelectField, TextField } from '../../ui/form.tsx'

type Body = NonNullable<paths['/api/webhooks/deliveries/redeliver']['post']['requestBody']>['content']['application/json']

const DAY_MS = 86_400_000
const STATES = [
  ['', 'given up and dead'],
  ['dead', 'dead: the last try failed'],
  ['failed', 'given up before the last try'],
] as const

export function Recover({ endpoints }: { endpoints: readonly (readonly [id: string, url: string])[] }) {
  const [endpoint, setEndpoint] = useState(endpoints[0]?.[0] ?? '')
  const [since, setSince] = useState(() => new Date(gatewayTime() - DAY_MS).toISOString().slice(0, 16))
  const [status, setStatus] = useState('')
  const [said, setSaid] = useState<string | null>(null)
  const send = async (): Promise<void> => {
    const body: Body = {
      endpoint_id: endpoint,
      since: since === '' ? '' : new Date(`${since}Z`).toISOString(),
      ...(status !== '' && { status: status as 'failed' | 'dead' }),
    }
    setSaid(null)
    const { queued, remaining } = await answerOf(api.POST('/api/webhooks/deliveries/redeliver', { body }))
    setSaid(`${count(queued)} queued${remaining > 0 ? `, ${count(remaining)} remain: send again` : ''}`)
    await invalidate('/api/webhooks')
  }
  return (
    <details class="recover">
      <summary>Send again what an endpoint missed</summary>
      <Form submit="Send again" onSubmit={send}>
        <div class="form-row">
          <SelectField name="endpoint_id" label="To endpoint" options={endpoints} value={endpoint} onInput={setEndpoint} />
          <TextField name="since" label="Since, UTC" type="datetime-local" value={since} onInput={setSince} />
          <SelectField name="status" label="Which deliveries" options={STATES} value={status} onInput={setStatus} />
        </div>
        {said !== null && <p role="status">{said}</p>}
      </Form>
    </details>
  )
}
