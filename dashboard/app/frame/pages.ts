// The nine pages. Each is loaded when it is first opened.
import type { ComponentType } from 'preact'

export interface PageEntry {
  /** First part of the path; '' for the first page. */
  readonly id: string
  readonly title: string
  /** Pressed after `g`. */
  readonly key: string
  /** Path of an icon on a grid of 24. */
  readonly icon: string
  readonly load: () => Promise<{ default: ComponentType<PageProps> }>
}

export interface PageProps {
  /** The rest of the path after the page's own part: `req_…` or `coder`; '' for the page itself. */
  rest: string
}

export const PAGES: readonly PageEntry[] = [
  {
    id: '',
    title: 'Overview',
    key: 'o',
    icon: 'M3 12 12 4l9 8M6 10v10h12V10',
    load: () => import('../../pages/overview/index.tsx'),
  },
  {
    id: 'requests',
    title: 'Requests',
    key: 'r',
    icon: 'M4 6h16M4 12h16M4 18h10',
    load: () => import('../../pages/requests/index.tsx'),
  },
  {
    id: 'playground',
    title: 'Playground',
    key: 'p',
    icon: 'M7 5l11 7-11 7z',
    load: () => import('../../pages/playground/index.tsx'),
  },
  {
    id: 'routing',
    title: 'Routing',
    key: 't',
    icon: 'M4 12h5l5-6h6M9 12l5 6h6',
    load: () => import('../../pages/routing/index.tsx'),
  },
  {
    id: 'connections',
    title: 'Connections',
    key: 'c',
    icon: 'M9 15l6-6M8 11l-2 2a3.5 3.5 0 0 0 5 5l2-2M16 13l2-2a3.5 3.5 0 0 0-5-5l-2 2',
    load: () => import('../../pages/connections/index.tsx'),
  },
  {
    id: 'spend',
    title: 'Spend',
    key: 's',
    icon: 'M4 20V10M10 20V4M16 20v-8M21 20H3',
    load: () => import('../../pages/spend/index.tsx'),
  },
  {
    id: 'keys',
    title: 'Keys',
    key: 'k',
    icon: 'M14 10a4 4 0 1 0-3.5 4L13 16v2h2v2h4v-3l-5-5z',
    load: () => import('../../pages/keys/index.tsx'),
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    key: 'w',
    icon: 'M12 7a3 3 0 1 0-3 3l-3 6M12 7l4 7M6 19a3 3 0 1 1 3-3h7M16 19a3 3 0 1 0 0-5',
    load: () => import('../../pages/webhooks/index.tsx'),
  },
  {
    id: 'system',
    title: 'System',
    key: 'y',
    icon: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
    load: () => import('../../pages/system/index.tsx'),
  },
]

/** Returns the page of a path and the rest after its own part; undefined for an unknown page. */
export function pageOf(path: string): { page: PageEntry; rest: string } | undefined {
  const [first = '', ...rest] = path.slice(1).split('/')
  const page = PAGES.find(({ id }) => id === first)
  return page && { page, rest: rest.map(decoded).join('/') }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function pathOf({ id }: PageEntry): string {
  return `/${id}`
}
