// GATEWAY_FINGERPRINT_VERSIONS: versions that requests name to vendors that document such a header for third-party clients.
import type { Logger } from './types/ports/ports.ts'
import type { Provider } from './types/ports/provider.ts'

/** By provider id. */
export type ClientVersions = ReadonlyMap<string, string>

/** A version is one header value: visible ASCII, at most 100 characters. */
const VERSION = /^[\x21-\x7e]{1,100}$/

/** Invalid values are ignored with a log line; ids without such a header are ignored later. */
export function versionsIn(given: unknown, log: Pick<Logger, 'warn'>): ClientVersions {
  if (given === null || given === undefined) return new Map()
  if (typeof given !== 'object' || Array.isArray(given)) {
    log.warn('fingerprint_versions.ignored', { reason: 'GATEWAY_FINGERPRINT_VERSIONS is not a JSON object.' })
    return new Map()
  }
  const versions = new Map<string, string>()
  for (const [id, version] of Object.entries(given)) {
    if (typeof version === 'string' && VERSION.test(version)) versions.set(id, version)
    else
      log.warn('fingerprint_versions.ignored', { provider: id.slice(0, 64), reason: 'The version is not a text without spaces.' })
  }
  return versions
}

export function withVersion(provider: Provider, versions: ClientVersions): Provider {
  const version = versions.get(provider.id)
  if (version === undefined || provider.clientVersion === undefined) return provider
  return { ...provider, clientVersion: { ...provider.clientVersion, version } }
}
