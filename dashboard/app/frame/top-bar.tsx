import { Menu } from '../../ui/menu.tsx'
import { DisplayChoices, QuickChoices } from '../display-choices.tsx'
import { href } from '../location.ts'
import { paletteOpen } from '../palette/palette.tsx'
import { me } from '../session/me.ts'
import { Organizations } from '../session/organizations.tsx'
import { leave, maySignOut } from '../session/sign-out.ts'
import { LiveDot } from './live-dot.tsx'

export function TopBar() {
  return (
    <header class="top">
      <a class="brand" href={href('/')}>
        hookgate
      </a>
      <button type="button" class="search-button" onClick={() => (paletteOpen.value = true)}>
        <span>Find or do</span> <kbd>Ctrl K</kbd>
      </button>
      <div class="top-right">
        <LiveDot />
        <QuickChoices />
        <Me />
      </div>
    </header>
  )
}

const WAYS = {
  open: 'No password is set: this computer only.',
  password: 'Signed in with the password.',
  token: 'Signed in with a management token.',
  host: 'Signed in by the host application.',
  oidc: 'Signed in with the identity provider.',
} as const

const RIGHTS = {
  member: 'May look',
  manage: 'May look and change',
  owner: 'Owns the organization',
  system: 'May do everything',
} as const

function Me() {
  if (me.value === null) return null
  const { role, read_only, auth, user, org } = me.value
  const name = user?.name ?? user?.email ?? (read_only ? 'read only' : role)
  return (
    <>
      <Menu
        plain
        label={`Who am I: ${name}`}
        title={
          <>
            <span class="who">{name}</span> <span aria-hidden="true">▾</span>
          </>
        }
      >
        <div class="who-card">
          <p>
            <strong>{user?.email ?? name}</strong>
            {org !== null && ` · ${org.name}`}
          </p>
          <p class="quiet">{read_only ? 'May look only' : RIGHTS[role]}</p>
          <p class="quiet">{WAYS[auth]}</p>
        </div>
        <Organizations />
        <DisplayChoices />
      </Menu>
      {maySignOut() && (
        <button type="button" class="button plain" onClick={leave}>
          Sign out
        </button>
      )}
    </>
  )
}
