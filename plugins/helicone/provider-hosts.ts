// Finds the configured provider for a base URL that a caller names. It only selects an existing connection; no request is sent to the URL
// itself.
import type { Configuration } from '../../core/config/configuration.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Provider } from '../../core/types/ports/provider.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

export type ProviderAt = (ctx: RequestContext, url: string) => string | null

const MAX_URL = 2048

/** Among several providers at one host, the longest matching base path wins. */
export function providerHosts(
  accounts: Pick<Services['accounts'], 'list'>,
  { providers, providerId }: Pick<Configuration, 'providers' | 'providerId'>,
): ProviderAt {
  return (ctx, url) => {
    const asked = addressOf(url)
    if (asked === null) return null
    let best: { provider: string; length: number } | null = null
    const offer = (provider: string, base: string | null): void => {
      const at = base === null ? null : addressOf(base)
      if (at?.host !== asked.host) return
      const length = within(asked.path, at.path) ? at.path.length : 0
      if (best === null || length > best.length) best = { provider: providerId(provider), length }
    }
    for (const { connection, orgId, enabled } of accounts.list())
      if (enabled && orgId === ctx.principal.orgId) offer(connection.provider, connection.baseUrl)
    for (const provider of providers) for (const base of addressesOf(provider)) offer(provider.id, base)
    return (best as { provider: string } | null)?.provider ?? null
  }
}

function addressesOf({ baseUrl, dialects }: Provider): (string | null)[] {
  return [baseUrl, ...Object.values(dialects).filter((base) => base !== '')]
}

function addressOf(url: string): { host: string; path: string } | null {
  if (url.length > MAX_URL || !URL.canParse(url)) return null
  const { protocol, host, pathname } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? { host, path: pathname.replace(/\/$/, '') } : null
}

function within(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`)
}
