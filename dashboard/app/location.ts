// The address of the page. All state of a view is in it: filters, range, sort order, open row, tab. A copied link shows the same view.
import { computed, signal } from '@preact/signals'
import { mount } from './mount.ts'
import { openedAt } from './session/arrival.ts'

const address = signal(openedAt)

/** The path below the mount point; `/` for the first page. */
export const path = computed(() => below(address.value.pathname))
export const query = computed(() => address.value.searchParams)

addEventListener('popstate', () => {
  address.value = new URL(location.href)
})

/** Returns the URL of a page for links. */
export function href(to: string): string {
  return mount + to
}

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const url = new URL(href(to), location.origin)
  if (url.href === location.href) return
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  const moved = below(url.pathname) !== path.value
  address.value = url
  if (moved) scrollTo(0, 0)
}

/** Changes parameters of the address; null and '' remove one. */
export function setQuery(changes: Readonly<Record<string, string | null>>, { replace = true }: { replace?: boolean } = {}): void {
  const next = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  go(text === '' ? path.value : `${path.value}?${text}`, { replace })
}

/** Follows links to our own pages without loading the document again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest?.('a')
  if (link?.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return
  const to = below(link.pathname)
  if (link.pathname !== mount + to || /^\/(?:api|v1|v1beta|metrics|healthz)(?:\/|$)/.test(to)) return
  event.preventDefault()
  go(to + link.search)
}

function below(pathname: string): string {
  const rest = mount !== '' && pathname.startsWith(mount) ? pathname.slice(mount.length) : pathname
  return rest === '' ? '/' : rest
}
