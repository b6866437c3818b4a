// The port that fetches pages of the public web for callers.

export interface PageRequest {
  url: string
  format: 'markdown' | 'text' | 'html' | 'json'
  includeLinks: boolean
  /** ms for all redirects and the body. */
  timeoutMs: number
  /** Only the ports 80 and 443, and no redirect from https to http. */
  strict: boolean
  /** True: addresses that are not public are allowed. */
  allowPrivate: boolean
}

export interface Page {
  /** The address after redirects. */
  finalUrl: string
  status: number
  contentType: string
  title: string | null
  content: string
  /** True: the body was longer than 5 MiB, and its rest was not read. */
  cut: boolean
  links: { text: string; url: string }[]
}

/**
 * Fetches a page without cookies or credentials, and converts HTML in a thread of its own.
 * @throws GatewayError 400 `url_not_allowed`, 415 for media and other binary types, 502 when the site fails, 504 over the time.
 */
export interface PageReader {
  (request: PageRequest, signal: AbortSignal): Promise<Page>
  /**
   * Checks a URL that goes to a vendor: its host is public, and so is every address that the name has here. A name without an address
   * here passes. @throws GatewayError 400 `url_not_allowed`.
   */
  checkPublic?(url: string, strict: boolean): Promise<void>
}
