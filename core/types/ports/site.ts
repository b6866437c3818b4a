// Types of pages that the gateway serves beside its API.
import type { Awaitable } from '../request/canonical.ts'

export interface SiteRequest {
  /** As received, not decoded, below the mount point. */
  readonly path: string
  readonly headers: Headers
  /** The path under which a host mounts the gateway: '' or `/llm`. */
  readonly mount: string
}

/** Answers GET and HEAD of paths that no route has, and of `/` for browsers. Provided as the service `site`. */
export interface Site {
  /** null: the site has no such page, and the caller gets the JSON 404. */
  answer(request: SiteRequest): Awaitable<Response | null>
}
