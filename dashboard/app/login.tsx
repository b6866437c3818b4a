import { useState } from 'preact/hooks'
import { answerOf, api } from '../api/client.ts'
import { signIn } from '../api/session.ts'
import { Form, TextField } from '../ui/form.tsx'
import { loadMe } from './me.ts'

/** @param over the session ended while a page was open: the page and its drafts stay under the login */
export function Login({ over = false }: { over?: boolean }) {
  const [password, setPassword] = useState('')
  const submit = async (): Promise<void> => {
    const { token } = await answerOf(api.POST('/api/login', { body: { password } }))
    setPassword('')
    signIn(token)
    await loadMe()
  }
  return (
    <main class={over ? 'login over' : 'login'}>
      <div class="login-box">
        <h1>{over ? 'Sign in again' : 'hookgate'}</h1>
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
      </div>
    </main>
  )
}
