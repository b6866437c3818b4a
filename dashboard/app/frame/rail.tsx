// The pages at the side; on a narrow screen a bar below with the first four and a menu of the others.
import { liveGeneration } from '../../api/live.ts'
import { useGet } from '../../api/query.ts'
import { Menu } from '../../ui/menu.tsx'
import { href, path } from '../location.ts'
import { me } from '../session/me.ts'
import { PAGES, type PageEntry, pageOf, pathOf } from './pages.ts'
import { leftOut, useShortMenu } from './short-menu.ts'

/** On the bar of a narrow screen. */
const FIRST: ReadonlySet<string> = new Set(['', 'requests', 'routing', 'spend'])

export function Rail() {
  const current = pageOf(path.value)?.page
  const short = useShortMenu()
  const shown = PAGES.filter((page) => !short || !leftOut(page.id) || page === current)
  return (
    <nav class="rail" aria-label="Pages">
      <ul>
        {shown.map((page) => (
          <Entry key={page.id} page={page} current={page === current} first={FIRST.has(page.id)} />
        ))}
        <li class={current === undefined || FIRST.has(current.id) ? 'more' : 'more current'}>
          <Menu
            title={
              <>
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  <path d="M5 12h.01M12 12h.01M19 12h.01" />
                </svg>
                <span>{current === undefined || FIRST.has(current.id) ? 'More' : current.title}</span>
              </>
            }
          >
            <ul>
              {PAGES.filter(({ id }) => !FIRST.has(id)).map((page) => (
                <Entry key={page.id} page={page} current={page === current} first />
              ))}
            </ul>
          </Menu>
        </li>
      </ul>
      <Foot />
    </nav>
  )
}

function Entry({ page, current, first }: { page: PageEntry; current: boolean; first: boolean }) {
  return (
    <li class={first ? '' : 'later'}>
      <a href={href(pathOf(page))} aria-current={current ? 'page' : undefined} title={`${page.title} (g ${page.key})`}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={page.icon} />
        </svg>
        <span>{page.title}</span>
        {page.id === '' && <AttentionCount />}
      </a>
    </li>
  )
}

/** The generation counts the changes of the configuration in this process. */
function Foot() {
  const health = useGet('/healthz').data
  const generation = liveGeneration.value
  if (health === undefined || health === null) return <p class="rail-foot" />
  const gen = generation === null ? '' : ` · gen ${generation}`
  return <p class="rail-foot">{`${health.version} · ${health.profile}${gen}`}</p>
}

/** How many problems need attention; critical ones colour it. */
function AttentionCount() {
  const items = useGet(me.value === null ? null : '/api/attention').data?.data ?? []
  if (items.length === 0) return null
  const critical = items.some(({ severity }) => severity === 'critical')
  return (
    <span class={critical ? 'badge critical' : 'badge'}>
      <span aria-hidden="true">{items.length}</span>
      <span class="visually-hidden">, {items.length} need attention</span>
    </span>
  )
}
