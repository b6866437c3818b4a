import { query as address } from '../../app/location.ts'
import { may, me } from '../../app/me.ts'
import { useShortMenu } from '../../app/short-menu.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Page, Tabs } from '../../ui/page.tsx'
import { Audit } from './audit.tsx'
import { Health } from './health.tsx'
import { Members } from './members.tsx'
import { Pipeline } from './pipeline.tsx'
import { Plan } from './plan.tsx'
import { Plugins } from './plugins.tsx'
import { Settings } from './settings.tsx'
import { Tokens } from './tokens.tsx'

const TABS = [
  { id: 'health', title: 'Health', view: Health, role: 'member' },
  { id: 'pipeline', title: 'Pipeline', view: Pipeline, role: 'member' },
  { id: 'plugins', title: 'Plugins', view: Plugins, role: 'member' },
  { id: 'settings', title: 'Settings', view: Settings, role: 'member' },
  { id: 'config', title: 'Config', view: Plan, role: 'system' },
  { id: 'audit', title: 'Audit', view: Audit, role: 'manage' },
  { id: 'members', title: 'Members', view: Members, role: 'member' },
  { id: 'tokens', title: 'Tokens', view: Tokens, role: 'system' },
] as const

export default function System() {
  const given = address.value.get('tab') ?? 'health'
  const short = useShortMenu()
  const organization = me.value?.org != null
  const shown = TABS.filter(
    ({ id, role }) => may(role) && (id !== 'audit' || !short || id === given) && (id !== 'members' || organization),
  )
  const tab = shown.find(({ id }) => id === given) ?? TABS[0]
  const View = tab.view
  return (
    <Page title="System">
      <Tabs tabs={shown} current={tab.id} />
      <AddressNote name="tab" shown={tab.id} />
      <View />
    </Page>
  )
}
