// Checks the signature of a webhook in the browser. Nothing is sent.
import { useState } from 'preact/hooks'
import { ApiError } from '../../api/error.ts'
import { Form, TextField } from '../../ui/form.tsx'
import { Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'

export function SignatureCheck() {
  const [secret, setSecret] = useState('')
  const [id, setId] = useState('')
  const [timestamp, setTimestamp] = useState('')
  const [signature, setSignature] = useState('')
  const [body, setBody] = useState('')
  const [right, setRight] = useState<boolean | null>(null)
  const check = async (): Promise<void> => {
    const expected = await signed(secret, `${id}.${timestamp}.${body}`)
    setRight(signature.split(' ').some((one) => one.replace(/^v1,/, '') === expected))
  }
  return (
    <Panel title="Check a signature">
      <p class="quiet">Paste what your server received. The check runs in this browser; nothing is sent.</p>
      <Form submit="Check" onSubmit={check}>
        <TextField
          name="secret"
          label="Secret of the endpoint"
          type="password"
          autocomplete="off"
          placeholder="whsec_…"
          value={secret}
          onInput={setSecret}
        />
        <div class="form-row">
          <TextField name="id" label="webhook-id" value={id} onInput={setId} />
          <TextField name="timestamp" label="webhook-timestamp" value={timestamp} onInput={setTimestamp} />
        </div>
        <TextField name="signature" label="webhook-signature" placeholder="v1,…" value={signature} onInput={setSignature} />
        <TextField name="body" label="Body, byte for byte" rows={6} value={body} onInput={setBody} />
        {right !== null &&
          (right ? <Status tone="ok">the signature is right</Status> : <Status tone="failed">the signature is wrong</Status>)}
      </Form>
    </Panel>
  )
}

/** HMAC-SHA-256 of the text under the secret, as base64. @throws ApiError naming the field */
async function signed(secret: string, text: string): Promise<string> {
  if (crypto.subtle === undefined)
    throw new ApiError('Browsers check signatures only on https and localhost. Open the dashboard there.', 400, null, null, null)
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    throw new ApiError('The secret is `whsec_` and base64. Copy it as it was shown.', 400, 'secret', null, null)
  }
}
