// The organizations of the person who is signed in; picking one opens it.
import { answerOf, api } from '../../api/client.ts'
import { signIn } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { href } from '../location.ts'
import { me } from './me.ts'

export function Organizations() {
  if (me.value?.user == null) return null
  const { org, orgs, user } = me.value
  const choices = [...orgs, ...(user.role === 'system_admin' ? [{ id: null, name: 'The gateway itself' }] : [])]
  if (choices.length < 2) return null
  const open = async (id: number | null): Promise<void> => {
    const { token } = await answerOf(api.POST('/api/auth/switch', { body: { org_id: id } }))
    signIn(token)
    // Nothing of the other organization stays on the screen.
    location.assign(href('/'))
  }
  return (
    <fieldset class="segments organizations">
      <legend>Organization</legend>
      {choices.map(({ id, name }) => (
        <Button key={String(id)} kind="plain" pressed={id === (org?.id ?? null)} onClick={() => open(id)}>
          {name}
        </Button>
      ))}
    </fieldset>
  )
}
