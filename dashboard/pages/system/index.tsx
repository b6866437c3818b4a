import { useGet } from '../../api/query.ts'
import { useShortMenu } from '../../app/frame/short-menu.ts'
import { query as address } from '../../app/location.ts'
import { may, me } from '../../app/session/me.ts'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Page, Tabs } from '../../ui/page.tsx'
import { Audit } from './audit.tsx'
import { Health } from './health.tsx'
import { Interception } from './interception.tsx'
import { Members } from './members.tsx'
import { Pipeline } from './pipeline.tsx'
import { Plan } from './plan.tsx'
import { Plugins } from './plugins.tsx'
import { Settings } from './settings.tsx'
import { StoredResponses } from './stored-responses.tsx'
import { Tokens } from './tokens.tsx'
import { Tunnel } from './tunnel.tsx'

const TABS = [
  { id: 'health', title: 'Health', view: Health, role: 'member' },
  { id: 'pipeline', title: 'Pipeline', view: Pipeline, role: 'member' },
  { id: 'plugins', title: 'Plugins', view: Plugins, role: 'member' },
  { id: 'settings', title: 'Settings', view: Settings, role: 'member' },
  { id: 'config', title: 'Config', view: Plan, role: 'system' },
  { id: 'audit', title: 'Audit', view: Audit, role: 'manage' },
  { id: 'members', title: 'Members', view: Members, role: 'member' },
  { id: 'responses', title: 'Stored responses', view: StoredResponses, role: 'manage' },
  { id: 'tokens', title: 'Tokens', view: Tokens, role: 'system' },
  { id: 'tunnel', title: 'Tunnel', view: Tunnel, role: 'manage' },
  { id: 'interception', title: 'Interception', view: Interception, role: 'manage' },
] as const

/** The cloud profile has no routes of these. */
const LOCAL_ONLY: ReadonlySet<string> = new Set(['tunnel', 'interception'])

export default function System() {
  const given = address.value.get('tab') ?? 'health'
  const short = useShortMenu()
  const profile = useGet('/healthz').data?.profile
  const organization = me.value?.org != null
  const shown = TABS.filter(
    ({ id, role }) =>
      may(role) &&
      (id !== 'audit' || !short || id === given) &&
      (id !== 'members' || organization) &&
      (!LOCAL_ONLY.has(id) || profile === 'local'),
  )
  if (profile === undefined && LOCAL_ONLY.has(given))
    return (
      <Page title="System">
        <div class="skeleton" aria-hidden="true" />
      </Page>
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
