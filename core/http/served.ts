// Parts of the control plane that a host can leave out.

import type { ServedParts } from '../types/host.ts'

/** True when the host leaves out the part that the path belongs to. */
export function leftOut(path: string, parts: ServedParts | undefined): boolean {
  if (parts === undefined) return false
  const { metrics = true, health = true, api = true } = parts
  if (path === '/metrics') return !metrics
  if (path === '/' || path === '/api/hello' || path === '/healthz' || path.startsWith('/health/')) return !health
  return path.startsWith('/api/') && !api
}
