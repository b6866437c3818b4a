// The service `cachePolicy`: versions of what changes answers beside the request, as one text of every key.
import type { CachePolicyService, PolicyVersion } from './service.ts'

export function cachePolicy(): CachePolicyService {
  let versions: readonly (readonly [string, PolicyVersion])[] = []
  return {
    version(name, value) {
      versions = [...versions.filter(([other]) => other !== name), [name, value] as const].sort(([a], [b]) => (a < b ? -1 : 1))
    },
    of(ctx) {
      if (versions.length === 0) return ''
      const parts: [string, string | number][] = []
      for (const [name, version] of versions) {
        const value = typeof version === 'function' ? version(ctx) : version
        if (value !== null) parts.push([name, value])
      }
      return JSON.stringify(parts)
    },
  }
}
