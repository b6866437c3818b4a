// Versions that requests name in a header, for vendors that document the header for third-party clients. GATEWAY_FINGERPRINT_VERSIONS
// overrides them. Headers of a vendor's own client do not belong here.
import type { ClientVersion } from '../../core/types/ports/provider.ts'

/** By provider id. */
export const CLIENT_VERSIONS: Readonly<Record<string, ClientVersion>> = {
  // https://docs.github.com/en/rest/about-the-rest-api/api-versions
  'github-models': { header: 'x-github-api-version', version: '2022-11-28' },
}
