// Where rate cards may be fetched from: https, or plain http inside the operator's own network.
import { guardAddress } from '../../core/config/addresses.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OutboundGuard } from '../../core/types/ports.ts'

/** Hosts of the public cards: what comes from there is large, or it is not the card. */
export const PUBLIC_HOSTS = ['raw.githubusercontent.com', 'models.dev']

const REF = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/

/** With the version reference in its place. @throws Error naming the variable that is wrong. */
export function sourceUrl(variable: string, template: string, ref: string, outbound: OutboundGuard): string {
  if (template.includes('{ref}') && (!REF.test(ref) || ref.includes('..')))
    throw new Error('GATEWAY_PRICING_SYNC_REF: a tag, branch or commit, in letters, digits and `._/-`.')
  const text = template.replaceAll('{ref}', ref)
  if (!URL.canParse(text)) throw new Error(`${variable}: the value is not a URL.`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new Error(`${variable}: the URL must not hold credentials.`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPrivateHost(url.hostname)))
    throw new Error(`${variable}: must be an https URL, or http to a host in the own network.`)
  try {
    guardAddress(url, variable, { profile: 'local', outbound })
  } catch (error) {
    throw new Error(`${variable}: ${GatewayError.from(error).message}`)
  }
  return url.href
}

const PRIVATE = /^(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+$/

function isPrivateHost(host: string): boolean {
  if (isLoopback(host) || PRIVATE.test(host) || /^\[f[cd]/.test(host)) return true
  return /\.(?:local|internal|lan)$/.test(host) || /^[a-z0-9-]+$/.test(host)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]'
}
