// A call that helps against a problem. It is confirmed with a reason, which stands in the audit log.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidateAll } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Sentence } from './sentence.tsx'

type Item = Got<'/api/attention'>['data'][number]
type Lever = Item['levers'][number]

interface PullProps {
  lever: Lever
  of: Item
}

export function Pull({ lever, of }: PullProps) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button onClick={() => setAsking(true)}>{lever.label}</Button>
      {asking && <Ask lever={lever} of={of} onClose={() => setAsking(false)} />}
    </>
  )
}

function Ask({ lever: { label, method, path, body }, of: { subject, title }, onClose }: PullProps & { onClose: () => void }) {
  const [reason, setReason] = useState('')
  const pull = async (): Promise<void> => {
    // The server names the call, so its path is not known to the types.
    const send = api[method as 'POST' | 'PUT' | 'PATCH' | 'DELETE'] as (
      path: string,
      init: object,
    ) => Promise<{ response: Response; data?: unknown }>
    const given = reason.trim()
    const headers = given === '' ? {} : { 'x-audit-reason': encodeURIComponent(given) }
    await answerOf(send(path, { headers, ...(body !== null && { body }) }))
    onClose()
    await invalidateAll()
  }
  return (
    <Dialog title={`${label}: ${subject.label}`} onClose={onClose}>
      <Form submit={label} onSubmit={pull} onCancel={onClose}>
        <p>
          <Sentence text={title} />
        </p>
        <TextField
          name="x-audit-reason"
          label="Reason"
          hint="It stands in the audit log, with your name and the time. It may stay empty."
          value={reason}
          onInput={setReason}
        />
      </Form>
    </Dialog>
  )
}
