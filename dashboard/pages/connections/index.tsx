import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Page, Tabs } from '../../ui/page.tsx'
import { Accounts } from './accounts.tsx'
import { AddConnection } from './add-connection.tsx'
import { ConnectionList } from './connection-list.tsx'
import { Registry } from './registry.tsx'

const TABS = [
  { id: 'accounts', title: 'Connections', view: ConnectionList },
  { id: 'sign-ins', title: 'Accounts', view: Accounts },
  { id: 'registry', title: 'Providers', view: Registry },
] as const

export default function Connections() {
  const given = address.value.get('tab') ?? 'accounts'
  const tab = TABS.find(({ id }) => id === given) ?? TABS[0]
  const View = tab.view
  const add = address.value.get('add')
  return (
    <Page
      title="Connections"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1' }, { replace: false })}>
            Add a connection
          </Button>
        )
      }
    >
      <Tabs tabs={TABS} current={tab.id} />
      <AddressNote name="tab" shown={tab.id} />
      <View />
      {add !== null && <AddConnection key={add} wanted={add} />}
    </Page>
  )
}
