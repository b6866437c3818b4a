import { useEffect } from 'preact/hooks'
import { answerOf, api } from '../api/client.ts'
import { useGet } from '../api/query.ts'
import { signedOut, signOut, token } from '../api/session.ts'
import { Banner } from './banner.tsx'
import { zoneName } from './clock.ts'
import { KeyHelp } from './keys.tsx'
import { href, path } from './location.ts'
import { Login } from './login.tsx'
import { me } from './me.ts'
import { PageView } from './page-view.tsx'
import { PAGES, pageOf, pathOf } from './pages.ts'
import { Palette, paletteOpen } from './palette.tsx'
import { prefer, preferences } from './preferences.ts'

export function Shell() {
  if (signedOut.value && me.value === null) return <Login />
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <TopBar />
      <Rail />
      <div class="content">
        <Banner />
        <PageView />
      </div>
      <Palette />
      <KeyHelp />
      {signedOut.value && <Login over />}
    </>
  )
}

function Rail() {
  const current = pageOf(path.value)?.page
  const health = useGet('/healthz')
  return (
    <nav class="rail" aria-label="Pages">
      <ul>
        {PAGES.map((page) => (
          <li key={page.id}>
            <a
              href={href(pathOf(page))}
              aria-current={page === current ? 'page' : undefined}
              title={`${page.title} (g ${page.key})`}
            >
              <svg viewBox="0 0 24 24" aria-hidden="true">
                <path d={page.icon} />
              </svg>
              <span>{page.title}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="rail-foot">{health.data && `${health.data.version} · ${health.data.profile}`}</p>
    </nav>
  )
}

const THEMES = { system: 'light', light: 'dark', dark: 'system' } as const
const THEME_GLYPHS = { system: '◐', light: '☀', dark: '☾' } as const

function TopBar() {
  const { theme, zone } = preferences.value
  useEffect(() => {
    // The time zone of every figure is one click away.
    document.documentElement.dataset.zone = zone
  }, [zone])
  return (
    <header class="top">
      <a class="brand" href={href('/')}>
        hookgate
      </a>
      <button type="button" class="search-button" onClick={() => (paletteOpen.value = true)}>
        <span>Find or do</span> <kbd>Ctrl K</kbd>
      </button>
      <div class="top-right">
        <button
          type="button"
          class="button plain"
          title="Time zone of all times on this page"
          onClick={() => prefer({ zone: zone === 'utc' ? 'local' : 'utc' })}
        >
          {zoneName()}
        </button>
        <button
          type="button"
          class="button plain"
          aria-label={`Theme: ${theme}`}
          title={`Theme: ${theme}`}
          onClick={() => prefer({ theme: THEMES[theme] })}
        >
          {THEME_GLYPHS[theme]}
        </button>
        <Me />
      </div>
    </header>
  )
}

function Me() {
  if (me.value === null) return null
  const { role, read_only, auth } = me.value
  const leave = async (): Promise<void> => {
    await answerOf(api.POST('/api/auth/logout')).catch(() => {})
    signOut()
    me.value = null
  }
  return (
    <>
      <span class="tag" title={auth === 'open' ? 'No password is set.' : undefined}>
        {read_only ? 'read only' : role}
      </span>
      {token.value !== null && auth !== 'open' && (
        <button type="button" class="button plain" onClick={leave}>
          Sign out
        </button>
      )}
    </>
  )
}
