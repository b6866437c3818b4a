// Sends again what an endpoint missed while it was away.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'

const DAY_MS = 86_400_000

export function Recover({ endpoint }: { endpoint: string }) {
  const [since, setSince] = useState(() => new Date(Date.now() - DAY_MS).toISOString().slice(0, 16))
  const [said, setSaid] = useState<string | null>(null)
  const send = async (): Promise<void> => {
    const { queued, remaining } = await answerOf(
      api.POST('/api/webhooks/deliveries/redeliver', {
        body: { endpoint_id: endpoint, since: new Date(`${since}Z`).toISOString() },
      }),
    )
    setSaid(`${queued} queued${remaining > 0 ? `, ${remaining} remain: send again` : ''}`)
    await invalidate('/api/webhooks')
  }
  return (
    <>
      {said !== null && <span class="quiet">{said}</span>}
      <label>
        since, UTC <input type="datetime-local" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
      </label>
      <Button onClick={send}>Send what failed again</Button>
    </>
  )
}
