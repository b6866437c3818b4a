import { query as address, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Page, Tabs } from '../../ui/page.tsx'
import { Deliveries } from './deliveries.tsx'
import { Endpoints } from './endpoints.tsx'
import { EventCatalogue } from './event-catalogue.tsx'
import { SignatureCheck } from './signature-check.tsx'

const TABS = [
  { id: 'endpoints', title: 'Endpoints', view: Endpoints },
  { id: 'deliveries', title: 'Deliveries', view: Deliveries },
  { id: 'events', title: 'Events', view: EventCatalogue },
  { id: 'signature', title: 'Check a signature', view: SignatureCheck },
] as const

export default function Webhooks() {
  const given = address.value.get('tab') ?? 'endpoints'
  const tab = TABS.find(({ id }) => id === given) ?? TABS[0]
  const View = tab.view
  return (
    <Page
      title="Webhooks"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => setQuery({ add: '1', tab: null, open: null })}>
            Add an endpoint
          </Button>
        )
      }
    >
      <Tabs tabs={TABS} current={tab.id} />
      <AddressNote name="tab" shown={tab.id} />
      <View />
    </Page>
  )
}
