// Headers of the dashboard's document and files.

/** Trusted Types make script injection a refusal of the browser: nothing in the page may write HTML. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "connect-src 'self'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const ISOLATED = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * A plugin's page runs without an origin: it has no storage, no session and no network. It reaches the gateway only through the page
 * that frames it. A cross-origin-resource-policy would keep its own scripts from it.
 */
const FRAME_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ')

export function frameHeaders(type: string): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': FRAME_POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  }
}

/** @param secure the public address is https */
export function documentHeaders(secure: boolean): Record<string, string> {
  return {
    ...ISOLATED,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    // A cached document would name files that an update removed.
    'cache-control': 'no-cache',
    ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
  }
}

export function fileHeaders(type: string, encoding: string | null): Record<string, string> {
  return {
    ...ISOLATED,
    'content-type': type,
    // The name contains a hash of the content.
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    ...(encoding !== null && { 'content-encoding': encoding }),
  }
}
