// Hosts that are reached without the proxy: `example.com` is the host and all below it, `*` is every host.

/** Made once for each pool; asked on every call. */
export function bypass(list: string): (url: string) => boolean {
  const suffixes = suffixesOf(list)
  if (suffixes.length === 0) return () => false
  if (suffixes.includes('*')) return () => true
  return (url) => {
    const host = hostOf(url)
    return suffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  }
}

export function suffixesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .map((entry) => (entry === '*' ? entry : entry.replace(/^\*?\./, '')))
    .filter((entry) => entry !== '')
}

function hostOf(url: string): string {
  const { hostname } = new URL(url)
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}
