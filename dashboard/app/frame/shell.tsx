import { signedOut } from '../../api/session.ts'
import { KeyHelp } from '../palette/keys.tsx'
import { Palette } from '../palette/palette.tsx'
import { arrival, invitation } from '../session/arrival.ts'
import { Login } from '../session/login.tsx'
import { me } from '../session/me.ts'
import { Banner } from './banner.tsx'
import { Later } from './later.tsx'
import { PageView } from './page-view.tsx'
import { Rail } from './rail.tsx'
import { TopBar } from './top-bar.tsx'

export function Shell() {
  const arrivals = (arrival.value !== null || invitation.value !== null) && <Later load={loadArrivals} props={{}} />
  if (signedOut.value && me.value === null)
    return (
      <>
        <Login />
        {arrivals}
      </>
    )
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
      {arrivals}
    </>
  )
}

const loadArrivals = () => import('../session/arrivals.tsx')
