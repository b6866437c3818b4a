// Checks where a browser goes after the sign-in. The address gets the session token, so it must be a page of this dashboard.
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** It travels in a cookie. */
const MAX = 1024
/** Any base does; only the parts of the path are read. */
const BASE = 'https://gateway.invalid'
/** Pages that run the code of plugins, and paths that are no pages. */
const NO_PAGE = /^\/+(?:plugin-pages|assets|api|v1|v1beta|metrics|healthz)(?:\/|$)/i

/** Returns the path and query. @throws GatewayError 400 for anything but a path of this origin. */
export function checkedReturn(text: string): string {
  if (text.length > MAX || !isOwnPage(text))
    throw GatewayError.invalid('return_to', '`return_to` must be the path of a page, such as `/keys`.')
  return text
}

/** Visible ASCII without `#` and `\\`: browsers escape everything else. */
function isOwnPage(text: string): boolean {
  if (!/^\/(?!\/)[!"$-[\]-~]*$/.test(text)) return false
  if (!URL.canParse(text, BASE)) return false
  const { origin, pathname } = new URL(text, BASE)
  const path = decoded(pathname)
  // A path that begins with two slashes is another host for some readers, also after its dots were resolved.
  return origin === BASE && path !== null && !/^\/[/\\]/.test(path) && !/[\\\p{Cc}]/u.test(path) && !NO_PAGE.test(path)
}

/** null: it cannot be decoded. Two rounds, because a proxy may decode once more. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(decodeURIComponent(path))
  } catch {
    return null
  }
}
