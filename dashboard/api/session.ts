// The session of this browser tab. Its token is in sessionStorage only: it ends with the tab, and no other site can send it.
import { signal } from '@preact/signals'

const KEY = 'session'
const SIBLINGS = new BroadcastChannel('hookgate-session')

/** The session token; null where nobody signed in or no password is set. */
export const token = signal<string | null>(sessionStorage.getItem(KEY))

/** True after a call was refused for want of a session. The page keeps its address and its drafts under the login. */
export const signedOut = signal(false)

export function signIn(issued: string): void {
  token.value = issued
  signedOut.value = false
  sessionStorage.setItem(KEY, issued)
  SIBLINGS.postMessage({ token: issued })
}

export function signOut(): void {
  token.value = null
  signedOut.value = true
  sessionStorage.removeItem(KEY)
}

/** A new tab asks the others for their session, so that one login is enough. */
export function askSiblings(): void {
  SIBLINGS.addEventListener('message', ({ data }: MessageEvent<{ ask?: true; token?: string }>) => {
    if (data.ask === true && token.value !== null) SIBLINGS.postMessage({ token: token.value })
    if (typeof data.token === 'string' && (token.value === null || signedOut.value)) signInQuietly(data.token)
  })
  if (token.value === null) SIBLINGS.postMessage({ ask: true })
}

function signInQuietly(issued: string): void {
  token.value = issued
  signedOut.value = false
  sessionStorage.setItem(KEY, issued)
}
