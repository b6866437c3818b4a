// Ends the session of this browser tab.
import { answerOf, api } from '../../api/client.ts'
import { signOut, token } from '../../api/session.ts'
import { me } from './me.ts'

export async function leave(): Promise<void> {
  await answerOf(api.POST('/api/auth/logout')).catch(() => {})
  signOut()
  me.value = null
}

export function maySignOut(): boolean {
  return token.value !== null && me.value !== null && me.value.auth !== 'open'
}
