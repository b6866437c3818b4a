// A gateway under a path of its host.

/** `/llm` from `/llm`, `/llm/` and `llm`; '' for none. */
export function mountPoint(prefix: string): string {
  const path = prefix.replace(/^\/+|\/+$/g, '')
  return path === '' ? '' : `/${path}`
}

/** The target without the mount point. Returns it unchanged when it does not lie below the mount point. */
export function withoutPrefix(target: string, prefix: string): string {
  const rest = target.startsWith(prefix) ? target.slice(prefix.length) : null
  if (prefix === '' || rest === null || !/^(?:[/?]|$)/.test(rest)) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
