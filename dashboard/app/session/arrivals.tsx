// Dialogs for what a link brought: a session, an error, a confirmed address, a new password, an invitation.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { signIn } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { href } from '../location.ts'
import { type Arrival, arrival, forgetInvitation, invitation } from './arrival.ts'
import { loadMe, me } from './me.ts'

const close = (): void => {
  arrival.value = null
}

export default function Arrivals() {
  const arrived = arrival.value
  if (arrived === null) return invitation.value !== null && me.value !== null ? <Invited token={invitation.value} /> : null
  if (arrived.kind === 'session') return <Foreign token={arrived.token} />
  if (arrived.kind === 'reset') return <Reset token={arrived.token} />
  if (arrived.kind === 'verify') return <Verify token={arrived.token} />
  return <Said arrived={arrived} />
}

const FAILURES: Readonly<Record<string, string>> = {
  invalid_state: 'This sign-in was used already, is older than 10 minutes, or began in another browser.',
  access_denied: 'The identity provider refused the sign-in.',
  domain_not_allowed: 'Addresses of this domain may not sign in. Ask an administrator of this gateway.',
  email_unverified: 'The identity provider has not verified your e-mail address.',
  email_missing: 'The identity provider gave no e-mail address.',
  too_many_groups: 'The identity provider left out your groups, because there are too many.',
  issuer_unavailable: 'The identity provider cannot be reached. Try again later.',
  rate_limited: 'Too many sign-ins failed. Try again in a minute.',
  client_refused: 'The identity provider refused this gateway. Ask an administrator of this gateway.',
  forbidden: 'Your account is disabled, or none of your groups gives access. Ask an administrator of this gateway.',
}

function Said({ arrived }: { arrived: Exclude<Arrival, { kind: 'session' | 'reset' | 'verify' }> }) {
  return (
    <Dialog title={arrived.kind === 'failure' ? 'You are not signed in' : 'Your e-mail address'} onClose={close}>
      <p role="status">{textOf(arrived)}</p>
      <Button kind="primary" onClick={close}>
        Continue
      </Button>
    </Dialog>
  )
}

/** A press of the button, because programs that check mail open pages too. */
function Verify({ token }: { token: string }) {
  const [text, setText] = useState<string | null>(null)
  const confirm = (): Promise<void> =>
    answerOf(api.POST('/api/auth/verify', { body: { token } })).then(
      () => {
        setText(VERIFIED)
        if (me.value !== null) void loadMe()
      },
      (error: unknown) => setText(ApiError.unreachable(error).message),
    )
  return (
    <Dialog title="Your e-mail address" onClose={close}>
      <p role="status">{text ?? 'Confirm that this e-mail address is yours.'}</p>
      {text === null ? (
        <Button kind="primary" onClick={confirm}>
          Confirm the address
        </Button>
      ) : (
        <Button kind="primary" onClick={close}>
          Continue
        </Button>
      )}
    </Dialog>
  )
}

const VERIFIED = 'The address is confirmed.'

function textOf(arrived: Exclude<Arrival, { kind: 'session' | 'reset' | 'verify' }>): string {
  if (arrived.kind === 'failure') return FAILURES[arrived.code] ?? 'The sign-in failed. Sign in again.'
  return arrived.ok ? VERIFIED : 'The link is unknown, expired or was used before. Ask for another letter.'
}

/** A session from a link that this tab did not ask for. */
function Foreign({ token }: { token: string }) {
  const [name, setName] = useState<string | null>(null)
  useEffect(() => {
    const headers = { authorization: `Bearer ${token}` }
    fetch(href('/api/auth/me'), { headers })
      .then((response) => (response.ok ? response.json() : null))
      .then((profile: { user?: { email: string } | null } | null) => {
        if (profile === null) arrival.value = { kind: 'failure', code: 'expired' }
        else setName(profile.user?.email ?? 'this account')
      }, close)
  }, [])
  const use = (): void => {
    signIn(token)
    location.assign(href('/'))
  }
  if (name === null) return null
  return (
    <Dialog title="Sign in?" onClose={close}>
      <p>
        A link signs you in as <strong>{name}</strong>. Continue only if this is you.
      </p>
      <div class="form-actions">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" onClick={use}>
          Continue
        </Button>
      </div>
    </Dialog>
  )
}

function Reset({ token }: { token: string }) {
  const [password, setPassword] = useState('')
  const [done, setDone] = useState(false)
  const submit = async (): Promise<void> => {
    await answerOf(api.POST('/api/auth/reset', { body: { token, password } }))
    setDone(true)
  }
  return (
    <Dialog title="Set a new password" onClose={close}>
      {done ? (
        <>
          <p role="status">The password is set, and every session has ended. Sign in with the new one.</p>
          <Button kind="primary" onClick={close}>
            Continue
          </Button>
        </>
      ) : (
        <Form submit="Set the password" onCancel={close} onSubmit={submit}>
          <TextField
            name="password"
            covers={['token']}
            label="New password"
            type="password"
            autocomplete="new-password"
            hint="8 to 128 characters. All your sessions end."
            value={password}
            onInput={setPassword}
          />
        </Form>
      )}
    </Dialog>
  )
}

function Invited({ token }: { token: string }) {
  const accept = async (): Promise<void> => {
    const session = await answerOf(api.POST('/api/orgs/invitations/accept', { body: { token } }))
    forgetInvitation()
    signIn(session.token)
    // Nothing of the other organization stays on the screen.
    location.assign(href('/'))
  }
  return (
    <Dialog title="Invitation" onClose={forgetInvitation}>
      <p>
        You are invited to an organization. You are signed in as <strong>{me.value?.user?.email ?? 'this account'}</strong>.
      </p>
      <div class="form-actions">
        <Button onClick={forgetInvitation}>Not now</Button>
        <Button kind="primary" onClick={accept}>
          Accept the invitation
        </Button>
      </div>
    </Dialog>
  )
}
