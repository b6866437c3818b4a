// Decides whether the host serves the part of the control plane that a path belongs to.

import type { ServedParts } from '../types/request/host.ts'

/** Returns true when the host leaves out the part that the path belongs to. */
export function leftOut(path: string, parts: ServedParts | undefined): boolean {
  if (parts === undefined) return false
  const { metrics = true, health = true, api = true, dashboard = true } = parts
  if (path === '/metrics') return !metrics
  if (path === '/') return !health && !dashboard
  if (path === '/api/hello' || path === '/healthz' || path.startsWith('/health/')) return !health
  return path.startsWith('/api/') && !api
}
