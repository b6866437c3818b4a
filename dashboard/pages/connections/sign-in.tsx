// Signing in to a provider's account: in a browser, whose answer comes by itself or is pasted, or with a code on another device.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { gatewayTime } from '../../api/gateway-time.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { now } from '../../app/clock.ts'
import { query as address, setQuery } from '../../app/location.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'

export type OAuthProvider = Got<'/api/oauth/providers'>['data'][number]
type Begun = paths['/api/oauth/{provider}/authorize']['post']['responses'][200]['content']['application/json']
type Code = paths['/api/oauth/{provider}/device']['post']['responses'][200]['content']['application/json']
type Polled = paths['/api/oauth/device/{session_id}/poll']['post']['responses'][200]['content']['application/json']

const LOOK_MS = 3000

const close = (): void => setQuery({ signin: null, flow: null })

async function signedIn(id: number): Promise<void> {
  setQuery({ signin: null, flow: null, open: String(id) })
  await invalidate('/api/oauth/accounts', '/api/providers', '/api/attention', '/api/models')
}

export function SignIn({ to: provider }: { to: OAuthProvider }) {
  const asked = address.value.get('flow')
  const flow = provider.flow === 'both' ? (asked === 'device' ? 'device' : 'pkce') : provider.flow
  return (
    <Dialog title={`Sign in to ${provider.name}`} onClose={close}>
      <div class="stack">
        {provider.flow === 'both' && (
          <div class="actions">
            <Button pressed={flow === 'pkce'} onClick={() => setQuery({ flow: null })}>
              With a browser
            </Button>
            <Button pressed={flow === 'device'} onClick={() => setQuery({ flow: 'device' })}>
              With a code
            </Button>
          </div>
        )}
        {flow === 'pkce' ? <WithBrowser to={provider} /> : <WithCode to={provider} />}
      </div>
    </Dialog>
  )
}

function WithBrowser({ to: { id, name } }: { to: OAuthProvider }) {
  const params = { path: { provider: id } } as never
  const [begun, setBegun] = useState<Begun | null>(null)
  const [pasted, setPasted] = useState('')
  // The gateway may get the answer by itself; then the account is new, or its token is.
  const accounts = useGet('/api/oauth/accounts', {}, LOOK_MS)
  const [since, setSince] = useState(0)
  const arrived = accounts.data?.data.find(
    ({ provider, last_refresh_at }) => provider === id && begun !== null && Date.parse(last_refresh_at) > since,
  )
  useEffect(() => {
    if (arrived !== undefined) void signedIn(arrived.id)
  }, [arrived?.id])
  const begin = async (): Promise<void> => {
    const newest = (accounts.data?.data ?? [])
      .filter(({ provider }) => provider === id)
      .map((one) => Date.parse(one.last_refresh_at))
    setSince(Math.max(0, ...newest))
    setBegun(await answerOf(api.POST('/api/oauth/{provider}/authorize', { params, body: {} })))
  }
  const finish = async (): Promise<void> => {
    const body = { callback_url: pasted.trim() }
    await signedIn((await answerOf(api.POST('/api/oauth/{provider}/exchange', { params, body }))).id)
  }
  if (begun === null)
    return (
      <>
        <p>The sign-in is at the vendor. The gateway gets tokens for the scopes of its client, and never your password.</p>
        <div class="form-actions">
          <Button kind="primary" onClick={begin}>
            Begin
          </Button>
        </div>
      </>
    )
  return (
    <>
      <p>
        {webAddress(begun.authorize_url) === null ? (
          <code>{begun.authorize_url}</code>
        ) : (
          <a class="button primary" href={begun.authorize_url} target="_blank" rel="noopener noreferrer">
            Open the sign-in of {name}
          </a>
        )}{' '}
        <Copy text={begun.authorize_url} label="Copy the address" />
      </p>
      <Ends at={begun.expires_at} />
      <p class="quiet">
        When your browser runs on the gateway’s machine, this window closes by itself after the sign-in. Otherwise the last page
        does not load: paste its address here.
      </p>
      <Form submit="Finish" onSubmit={finish} onCancel={close}>
        <TextField
          name="callback_url"
          covers={['state', 'code']}
          label="Address of the last page"
          type="url"
          autocomplete="off"
          placeholder="http://127.0.0.1:41234/callback?code=…&state=…"
          value={pasted}
          onInput={setPasted}
        />
      </Form>
    </>
  )
}

interface Waiting {
  readonly code: Code
  /** Epoch ms. */
  readonly until: number
}

function WithCode({ to: { id, name } }: { to: OAuthProvider }) {
  const [waiting, setWaiting] = useState<Waiting | null>(null)
  const [status, setStatus] = useState<Polled['status']>('pending')
  const [error, setError] = useState<ApiError | null>(null)
  const session = waiting?.code.session_id
  useEffect(() => {
    if (waiting === null) return
    let timer: ReturnType<typeof setTimeout>
    let ended = false
    const ask = async (): Promise<void> => {
      try {
        const path = { session_id: waiting.code.session_id }
        const polled = await answerOf(api.POST('/api/oauth/device/{session_id}/poll', { params: { path } as never }))
        if (ended) return
        setStatus(polled.status)
        setError(null)
        if (polled.account !== undefined) return void signedIn(polled.account.id)
        if (polled.status === 'denied' || polled.status === 'expired') return
      } catch (thrown) {
        if (!ended) setError(ApiError.unreachable(thrown))
      }
      if (!ended && gatewayTime() < waiting.until) timer = setTimeout(ask, waiting.code.interval * 1000)
    }
    timer = setTimeout(ask, waiting.code.interval * 1000)
    return () => {
      ended = true
      clearTimeout(timer)
    }
  }, [session])
  const begin = async (): Promise<void> => {
    const code = await answerOf(api.POST('/api/oauth/{provider}/device', { params: { path: { provider: id } } as never }))
    setStatus('pending')
    setWaiting({ code, until: gatewayTime() + code.expires_in * 1000 })
  }
  if (waiting === null || status === 'denied' || status === 'expired')
    return (
      <>
        {status === 'denied' && <Notice tone="warning">The sign-in was refused at the vendor.</Notice>}
        {status === 'expired' && <Notice tone="warning">The code has expired.</Notice>}
        <p>You get a code, and enter it on a page of {name} in any browser.</p>
        <div class="form-actions">
          <Button kind="primary" onClick={begin}>
            Get a code
          </Button>
        </div>
      </>
    )
  const { user_code, verification_uri, verification_uri_complete } = waiting.code
  const page = verification_uri_complete ?? verification_uri
  return (
    <>
      <p>
        Enter this code: <strong class="user-code">{user_code}</strong> <Copy text={user_code} />
      </p>
      <p>
        {webAddress(page) === null ? (
          <code>{page}</code>
        ) : (
          <a class="button primary" href={page} target="_blank" rel="noopener noreferrer">
            Open {verification_uri}
          </a>
        )}
      </p>
      {error === null ? (
        <p role="status">
          <Status tone="waiting">waiting for the code to be entered</Status>
        </p>
      ) : (
        <Notice tone="warning">{error.message}</Notice>
      )}
      <Ends at={waiting.until} />
    </>
  )
}

function Ends({ at }: { at: string | number }) {
  return new Date(at).getTime() > now.value ? (
    <p class="quiet">
      The sign-in ends <Ago at={at} />.
    </p>
  ) : (
    <Notice tone="warning">The sign-in has expired. Close this window and begin again.</Notice>
  )
}

/** The vendor names the address: only web pages become links. */
function webAddress(text: string): string | null {
  return /^https?:\/\//i.test(text) ? text : null
}
