// Cleans an upstream's error for callers, logs and records. Its texts may repeat secrets that the upstream was sent, and its code and
// type may be any text.
import { withoutAccounts } from '../text/account-ids.ts'
import { sanitizeMessage } from '../text/sanitize.ts'
import { secretMask } from '../text/secret-mask.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import { type GatewayError, unnamedType } from './gateway-error.ts'

const MAX_SLUG = 64
const MAX_PARAM = 200

/** Returns the same error when there is nothing to remove or correct. `foreign`: the vendor's account is another organization's. */
export function withoutSecrets(error: GatewayError, secrets: readonly string[], foreign = false): GatewayError {
  const hide = secretMask(secrets)
  const mask = foreign ? (text: string) => withoutAccounts(hide(text)) : hide
  const slug = (text: string | null) => (text === null ? null : slugOf(mask(text)))
  const message = sanitizeMessage(mask(error.message))
  const ours = error.upstream === null
  const type = ours ? error.type : (slug(error.type) ?? unnamedType(error.status, error.upstream?.kind ?? 'status'))
  const code = ours ? error.code : slug(error.code)
  const param = error.param === null ? null : sanitizeMessage(mask(error.param)).slice(0, MAX_PARAM)
  const upstream = cleanUpstream(error.upstream, mask, slug)
  const headers = error.headers.map(mask)
  const same =
    message === error.message &&
    type === error.type &&
    code === error.code &&
    param === error.param &&
    upstream === error.upstream &&
    headers.every((part, index) => part === error.headers[index])
  if (same) return error
  return error.with({ message, type, code, param, headers, upstream: upstream ?? undefined })
}

type Upstream = GatewayErrorShape['upstream']

function cleanUpstream(
  upstream: Upstream,
  mask: (text: string) => string,
  slug: (text: string | null) => string | null,
): Upstream {
  if (upstream === null) return null
  const vendorCode = slug(upstream.vendorCode)
  // A field name that contains a secret is not one of our fields, so it is removed.
  const field = upstream.field !== null && mask(upstream.field) !== upstream.field ? null : upstream.field
  return vendorCode === upstream.vendorCode && field === upstream.field ? upstream : { ...upstream, vendorCode, field }
}

const SLUG = /^[\w.:-]{1,64}$/

/** Returns null for a text without a letter or digit. */
function slugOf(text: string): string | null {
  if (SLUG.test(text)) return text
  const slug = text
    .slice(0, 4 * MAX_SLUG)
    .replace(/[^\w.:-]+/g, '_')
    .replace(/^_+/, '')
    .slice(0, MAX_SLUG)
    .replace(/_+$/, '')
  return /[a-z0-9]/i.test(slug) ? slug : null
}
