// Validates a connection before it is stored. Each message names its field.
import { type AddressRules, checkProxyUrl, guardAddress, operationIn, parsedAddress } from '../../core/config/addresses.ts'
import type { Configuration } from '../../core/config/configuration.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export interface Checked {
  readonly provider: string
  readonly baseUrl: string | null
  readonly wireFormat: string | null
  readonly hasKey: boolean
  /** It signs in and has no key. */
  readonly signedIn?: boolean
  readonly enabled: boolean
  readonly proxyUrl: string | null
}

export interface CheckRules extends AddressRules {
  readonly configuration: Configuration
}

/** @throws GatewayError 400 naming the field. */
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
  if (provider.needsKey && !given.hasKey && given.enabled && given.signedIn !== true)
    throw GatewayError.invalid('api_key', `\`api_key\`: \`${given.provider}\` needs a key; give the one of your account there.`)
  if (given.baseUrl !== null) checkBaseUrl(given.baseUrl, rules)
  if (given.proxyUrl !== null && given.proxyUrl !== 'direct')
    checkProxyUrl(given.proxyUrl, 'an http, https or socks5 URL, or `direct`', rules)
}

function checkBaseUrl(text: string, rules: CheckRules): void {
  const url = parsedAddress(text, 'base_url', /^https?:$/, 'an http or https URL')
  if (url.username !== '' || url.password !== '')
    throw GatewayError.invalid('base_url', '`base_url` must not hold credentials; say `api_key`.')
  if (url.search !== '' || url.hash !== '')
    throw GatewayError.invalid('base_url', '`base_url` must not have a query or a fragment.')
  const slip = operationIn(text)
  if (slip !== null) throw GatewayError.invalid('base_url', `\`base_url\` ${slip}`)
  guardAddress(url, 'base_url', rules)
}
