// The API shows secrets as masks, and clients may send a mask back. A masked header keeps its value; a mask itself is never stored.
import { GatewayError } from '../../core/errors/gateway-error.ts'

export const MASK = '***'

type Headers = Readonly<Record<string, string>>

/** @throws GatewayError 400 for a masked header of which nothing is stored. */
export function unmasked(given: Headers, stored: Headers): Headers {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (value !== MASK) return [name, value]
      if (Object.hasOwn(stored, name)) return [name, stored[name] as string]
      throw GatewayError.invalid(`headers.${name}`, `\`headers.${name}\` is a mask, and hides no stored value; give the value.`)
    }),
  )
}

/** @throws GatewayError 400. */
export function refuseMaskedProxy(url: string): void {
  const { username, password } = new URL(url)
  if (username === MASK || password === MASK)
    throw GatewayError.invalid('proxy_url', '`proxy_url` is masked as it was read; give the whole URL, or leave it out.')
}
