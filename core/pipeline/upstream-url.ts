// A base URL is everything before the operation path, as the vendor's SDK shows it.
// A path's own version segment goes when the base already ends in one.
import { memoize } from '../collections/memoize.ts'

const VERSION = /\/v\d+(?:beta\d*|alpha\d*)?$/

/** `https://h/v1` + `/v1/messages` → `https://h/v1/messages`; `https://h` + `/v1/messages` → the same; chat never adds a version. */
export function joinUrl(base: string, path: string): string {
  return under(base)(path)
}

const under = memoize((base) => memoize((path) => joined(base, path)))

function joined(base: string, path: string): string {
  const stem = base.endsWith('/') ? base.slice(0, -1) : base
  const versioned = /^\/v\d+(?:beta\d*|alpha\d*)?(?=\/)/.exec(path)?.[0]
  if (versioned === undefined) return stem + path
  const rest = path.slice(versioned.length)
  return VERSION.test(stem) || NEVER_VERSIONED.test(rest) ? stem + rest : stem + path
}

/** Vendors of these two put anything before the path (`/openai`, `/inference`, `/api/paas/v4`). */
const NEVER_VERSIONED = /^\/(?:chat\/completions|responses)(?:\/|$)/
