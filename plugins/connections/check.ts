// Whether a connection can work, before it is stored: each complaint names its field.
import type { Configuration } from '../../core/config/configuration.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OutboundGuard } from '../../core/types/ports.ts'

export interface Checked {
  readonly provider: string
  readonly baseUrl: string | null
  readonly wireFormat: string | null
  readonly hasKey: boolean
  readonly enabled: boolean
  readonly proxyUrl: string | null
}

export interface CheckRules {
  readonly configuration: Configuration
  readonly profile: 'local' | 'cloud'
  readonly outbound: OutboundGuard
}

/** Cloud metadata services: nobody's upstream, on any profile (RELIABILITY S7). */
const METADATA =
  /^(?:169\.254\.\d+\.\d+|100\.100\.100\.200|\[::ffff:a9fe:[0-9a-f]+\]|\[::ffff:6464:64c8\]|\[fd00:ec2::254\]|metadata(?:\.google\.internal)?\.?)$/

/** @throws GatewayError 400 with the field. */
export function checkConnection(given: Checked, rules: CheckRules): void {
  const { configuration } = rules
  const known = configuration.known(given.provider)
  if (!known && given.baseUrl === null)
    throw GatewayError.invalid(
      'base_url',
      `\`base_url\`: \`${given.provider}\` is not in the registry; a custom provider needs a base URL.`,
    )
  if (!known && given.wireFormat === null)
    throw GatewayError.invalid(
      'wire_format',
      '`wire_format`: a custom provider needs one of chat, messages, responses, generate_content.',
    )
  const provider = configuration.provider(given.provider)
  if (known && provider.baseUrl === null && provider.answer === undefined && given.baseUrl === null)
    throw GatewayError.invalid(
      'base_url',
      `\`base_url\`: \`${given.provider}\` has no address of its own; give that of your deployment.`,
    )
  if (provider.needsKey && !given.hasKey && given.enabled)
    throw GatewayError.invalid('api_key', `\`api_key\`: \`${given.provider}\` needs a key.`)
  if (given.baseUrl !== null) checkBaseUrl(given.baseUrl, rules)
  if (given.proxyUrl !== null && given.proxyUrl !== 'direct') checkProxyUrl(given.proxyUrl, rules)
}

function checkBaseUrl(text: string, { profile, outbound }: CheckRules): void {
  const url = parsedUrl(text, 'base_url', /^https?:$/, 'an http or https URL')
  if (url.username !== '' || url.password !== '')
    throw GatewayError.invalid('base_url', '`base_url` must not hold credentials; say `api_key`.')
  if (url.search !== '' || url.hash !== '')
    throw GatewayError.invalid('base_url', '`base_url` must not have a query or a fragment.')
  guard(url, 'base_url', profile, outbound)
}

function checkProxyUrl(text: string, { profile, outbound }: CheckRules): void {
  const url = parsedUrl(text, 'proxy_url', /^(https?|socks5):$/, 'an http, https or socks5 URL, or `direct`')
  const plain = new URL(text.replace(/^socks5:/i, 'http:'))
  guard(url.protocol === 'socks5:' ? plain : url, 'proxy_url', profile, outbound)
}

function guard(url: URL, param: string, profile: 'local' | 'cloud', outbound: OutboundGuard): void {
  if (METADATA.test(url.hostname)) throw GatewayError.invalid(param, `\`${param}\` leads to a metadata service.`)
  if (profile === 'cloud') outbound.check(url.href, param)
}

function parsedUrl(text: string, param: string, protocol: RegExp, wanted: string): URL {
  if (!URL.canParse(text) || !protocol.test(new URL(text).protocol) || new URL(text).hostname === '')
    throw GatewayError.invalid(param, `\`${param}\` must be ${wanted}.`)
  return new URL(text)
}
