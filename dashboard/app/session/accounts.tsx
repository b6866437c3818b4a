// Signing in with an account: e-mail address and password, sign-up, forgotten password; or the identity provider.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { signIn } from '../../api/session.ts'
import { Form, TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'
import { href, path, query } from '../location.ts'
import { invitation, rememberSignIn } from './arrival.ts'
import { loadMe } from './me.ts'

type View = 'login' | 'sign-up' | 'forgot'
/** The limit of the server. */
const LONGEST_RETURN = 1000

export default function Accounts({ idp }: { idp: boolean }) {
  const [view, setView] = useState<View>('login')
  const [email, setEmail] = useState('')
  const fields = { email, setEmail }
  return (
    <>
      {invitation.value !== null && (
        <Notice>You are invited. {idp ? 'Sign in' : 'Sign in or sign up'} with the address that the letter came to.</Notice>
      )}
      {idp && <IdentityProvider />}
      {!idp && view === 'login' && <LogIn {...fields} />}
      {!idp && view === 'sign-up' && <SignUp {...fields} />}
      {!idp && view === 'forgot' && <Forgot {...fields} />}
      {!idp && (
        <p class="login-ways">
          {(['login', 'sign-up', 'forgot'] as const)
            .filter((other) => other !== view)
            .map((other) => (
              <button key={other} type="button" class="button plain" onClick={() => setView(other)}>
                {TITLES[other]}
              </button>
            ))}
        </p>
      )}
    </>
  )
}

const TITLES: Record<View, string> = { login: 'Sign in', 'sign-up': 'Create an account', forgot: 'Forgot the password?' }

function IdentityProvider() {
  const search = query.value.toString()
  const page = search === '' ? path.value : `${path.value}?${search}`
  const back = encodeURIComponent(page.length > LONGEST_RETURN ? '/' : page)
  return (
    <p>
      <a class="button primary" href={href(`/api/auth/oidc/start?return_to=${back}`)} onClick={rememberSignIn}>
        Sign in with the identity provider
      </a>
    </p>
  )
}

interface Fields {
  email: string
  setEmail: (value: string) => void
}

async function began({ token }: { token: string }): Promise<void> {
  signIn(token)
  await loadMe()
}

function Email({ email, setEmail }: Fields) {
  return <TextField name="email" label="E-mail address" type="email" autocomplete="username" value={email} onInput={setEmail} />
}

function LogIn(fields: Fields) {
  const [password, setPassword] = useState('')
  const submit = async (): Promise<void> =>
    began(await answerOf(api.POST('/api/auth/login', { body: { email: fields.email, password } })))
  return (
    <Form submit="Sign in" onSubmit={submit}>
      <Email {...fields} />
      <TextField
        name="password"
        label="Password"
        type="password"
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
      />
    </Form>
  )
}

function SignUp(fields: Fields) {
  const [password, setPassword] = useState('')
  const [name, setName] = useState('')
  const [organization, setOrganization] = useState('')
  const submit = async (): Promise<void> => {
    const body = { email: fields.email, password, name: name || null, org_name: organization || null }
    await began(await answerOf(api.POST('/api/auth/signup', { body })))
  }
  return (
    <Form submit="Create the account" onSubmit={submit}>
      <Email {...fields} />
      <TextField
        name="password"
        label="Password"
        type="password"
        autocomplete="new-password"
        hint="8 to 128 characters"
        value={password}
        onInput={setPassword}
      />
      <TextField name="name" label="Your name" hint="May stay empty" autocomplete="name" value={name} onInput={setName} />
      <TextField
        name="org_name"
        label="Organization"
        hint="Empty: named after you"
        autocomplete="organization"
        value={organization}
        onInput={setOrganization}
      />
    </Form>
  )
}

function Forgot(fields: Fields) {
  const [sent, setSent] = useState(false)
  const submit = async (): Promise<void> => {
    await answerOf(api.POST('/api/auth/forgot', { body: { email: fields.email } }))
    setSent(true)
  }
  if (sent) return <Notice>If there is an account with this address, a letter with a link is on its way.</Notice>
  return (
    <Form submit="Send a link" onSubmit={submit}>
      <Email {...fields} />
    </Form>
  )
}
