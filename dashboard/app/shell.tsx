import { signedOut } from '../api/session.ts'
import { arrival, invitation } from './arrival.ts'
import { Banner } from './banner.tsx'
import { KeyHelp } from './keys.tsx'
import { Later } from './later.tsx'
import { Login } from './login.tsx'
import { me } from './me.ts'
import { PageView } from './page-view.tsx'
import { Palette } from './palette.tsx'
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

const loadArrivals = () => import('./arrivals.tsx')
