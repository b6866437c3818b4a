// Handles the path under which a host mounts the gateway.

/** Returns `/llm` for `/llm`, `/llm/` and `llm`; '' for none. */
export function mountPoint(prefix: string): string {
  const path = prefix.replace(/^\/+|\/+$/g, '')
  return path === '' ? '' : `/${path}`
}

/** Returns the target without the mount point; unchanged when it is not below the mount point. */
export function withoutPrefix(target: string, prefix: string): string {
  const rest = target.startsWith(prefix) ? target.slice(prefix.length) : null
  if (prefix === '' || rest === null || !/^(?:[/?]|$)/.test(rest)) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
