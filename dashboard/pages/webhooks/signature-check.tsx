// Checks the signature of a webhook in the browser. Nothing is sent.
import { useState } from 'preact/hooks'
import { ApiError } from '../../api/error.ts'
import { gatewayTime } from '../../api/gateway-time.ts'
import { span } from '../../app/format.ts'
import { Form, TextField } from '../../ui/form.tsx'
import { Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'

export function SignatureCheck() {
  const [secret, setSecret] = useState('')
  const [id, setId] = useState('')
  const [timestamp, setTimestamp] = useState('')
  const [signature, setSignature] = useState('')
  const [body, setBody] = useState('')
  const [verdict, setVerdict] = useState<{ right: boolean; expected: string; age: number } | null>(null)
  const check = async (): Promise<void> => {
    setVerdict(null)
    if (!/^\d{1,15}$/.test(timestamp.trim()))
      throw wrong('timestamp', 'The timestamp is seconds since 1970: `webhook-timestamp` as it was received.')
    if (!signature.includes('v1,')) throw wrong('signature', 'A signature begins with `v1,`: copy the whole header.')
    const expected = await signed(secret, `${id.trim()}.${timestamp.trim()}.${body}`)
    const right = signature.split(/\s+/).some((one) => one.replace(/^v1,/, '') === expected)
    setVerdict({ right, expected, age: Math.abs(gatewayTime() / 1000 - Number(timestamp)) * 1000 })
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
        {verdict !== null && (
          <div role="status">
            {verdict.right ? (
              <Status tone="ok">the signature is right</Status>
            ) : (
              <Status tone="failed">the signature is wrong</Status>
            )}
            {!verdict.right && (
              <p class="quiet">
                With this secret it is <code class="secret">v1,{verdict.expected}</code> Look for a changed body, such as parsed
                and written JSON, and for another secret.
              </p>
            )}
            {verdict.age > MOST_AGE_MS && (
              <p class="quiet">
                The timestamp is {span(verdict.age)} away: a receiver refuses what is more than five minutes away.
              </p>
            )}
          </div>
        )}
      </Form>
    </Panel>
  )
}

const MOST_AGE_MS = 5 * 60_000

function wrong(param: string, message: string): ApiError {
  return new ApiError(message, 400, param, null, null)
}

/** HMAC-SHA-256 of the text under the secret, as base64. @throws ApiError naming the field */
async function signed(secret: string, text: string): Promise<string> {
  if (crypto.subtle === undefined)
    throw wrong('secret', 'Browsers check signatures only on https and localhost. Open the dashboard there.')
  const bytes = bytesOf(secret.trim().replace(/^whsec_/, ''))
  if (bytes.length === 0) throw wrong('secret', 'The secret is empty.')
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    throw wrong('secret', 'The secret is `whsec_` and base64. Copy it as it was shown.')
  }
}
