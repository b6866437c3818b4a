// Reads what a link brought in the address: a session, an error, or the token of a letter. It is erased from the address and from the
// history before anything else reads them.
import { signal } from '@preact/signals'
import { signIn } from '../../api/session.ts'
import { mount } from '../mount.ts'

export type Arrival =
  /** A session that another page began: it asks before it is used, so that a link cannot sign a person in as somebody else. */
  | { readonly kind: 'session'; readonly token: string }
  | { readonly kind: 'failure'; readonly code: string }
  | { readonly kind: 'verify'; readonly token: string }
  | { readonly kind: 'reset'; readonly token: string }
  | { readonly kind: 'verified'; readonly ok: boolean }

const INVITATION = 'invitation'
const BEGUN = 'identity-provider'
const LETTERS: Readonly<Record<string, 'verify' | 'reset' | 'invitation'>> = {
  '/verify': 'verify',
  '/reset': 'reset',
  '/invitation': 'invitation',
}

export const arrival = signal<Arrival | null>(arrived(new URL(location.href)))

/** The address of the page without what was taken from it. */
export const openedAt: URL = new URL(location.href)

/** The token of an invitation until it is accepted or declined: signing in may lead to another site and back. */
export const invitation = signal<string | null>(sessionStorage.getItem(INVITATION))

export function forgetInvitation(): void {
  sessionStorage.removeItem(INVITATION)
  invitation.value = null
}

/** Call it before leaving for the identity provider: the session that comes back is of this tab. */
export function rememberSignIn(): void {
  sessionStorage.setItem(BEGUN, '1')
}

function arrived(url: URL): Arrival | null {
  const fragment = new URLSearchParams(url.hash.slice(1))
  const letter = LETTERS[url.pathname.slice(mount.length)]
  const token = fragment.get('token') ?? (letter === undefined ? null : url.searchParams.get('token'))
  const error = fragment.get('error')
  const verified = url.searchParams.get('verified')
  if (letter === undefined && token === null && error === null && verified === null) return null
  url.hash = ''
  url.searchParams.delete('verified')
  if (letter !== undefined) {
    url.pathname = `${mount}/`
    url.search = ''
  }
  history.replaceState(null, '', url)
  if (error !== null) return { kind: 'failure', code: error }
  if (verified !== null) return { kind: 'verified', ok: verified === '1' }
  if (token === null || token === '') return null
  if (letter === 'invitation') {
    sessionStorage.setItem(INVITATION, token)
    return null
  }
  if (letter !== undefined) return { kind: letter, token }
  const begunHere = sessionStorage.getItem(BEGUN) !== null
  sessionStorage.removeItem(BEGUN)
  if (!begunHere) return { kind: 'session', token }
  signIn(token)
  return null
}
