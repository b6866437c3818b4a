import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { useGet } from '../../api/query.ts'
import { signIn } from '../../api/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Later } from '../frame/later.tsx'
import { loadMe } from './me.ts'

const loadAccounts = () => import('./accounts.tsx')

/** @param over the session ended while a page was open: the page and its drafts stay under the login */
export function Login({ over = false }: { over?: boolean }) {
  const [password, setPassword] = useState('')
  const submit = async (): Promise<void> => {
    const { token } = await answerOf(api.POST('/api/login', { body: { password } }))
    setPassword('')
    signIn(token)
    await loadMe()
  }
  const methods = useGet('/api/auth/methods')
  const tenants = methods.data?.multi_tenant === true
  if (methods.data === undefined && methods.error === null) return null
  const form = tenants ? (
    <Later load={loadAccounts} props={{ idp: methods.data?.idp_enabled === true }} />
  ) : (
    <Form submit="Sign in" onSubmit={submit}>
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
  // A modal dialog of the page would cover anything else.
  if (over)
    return (
      <Dialog title="Sign in again" guarded onClose={() => {}}>
        {form}
      </Dialog>
    )
  return (
    <main class="login">
      <div class="login-box">
        <h1>hookgate</h1>
        {form}
      </div>
    </main>
  )
}
