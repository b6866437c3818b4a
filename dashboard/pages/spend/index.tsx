import { query as address } from '../../app/location.ts'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Page, Tabs } from '../../ui/page.tsx'
import { windowOf } from '../../ui/window.tsx'
import { Advisor } from './advisor.tsx'
import { Budgets } from './budgets.tsx'
import { Prices } from './prices.tsx'
import { Reports } from './reports.tsx'
import { Savings } from './savings.tsx'
import { Usage } from './usage.tsx'

const TABS = [
  { id: 'usage', title: 'Usage', view: Usage },
  { id: 'budgets', title: 'Budgets', view: Budgets },
  { id: 'reports', title: 'Reports', view: Reports },
  { id: 'savings', title: 'Savings', view: Savings },
  { id: 'advisor', title: 'Advisor', view: Advisor },
  { id: 'prices', title: 'Prices', view: Prices },
] as const

export default function Spend() {
  const given = address.value.get('tab') ?? 'usage'
  const tab = TABS.find(({ id }) => id === given) ?? TABS[0]
  const View = tab.view
  return (
    <Page title="Spend">
      <Tabs tabs={TABS} current={tab.id} />
      <AddressNote name="tab" shown={tab.id} />
      <AddressNote name="window" shown={windowOf()} />
      <View />
    </Page>
  )
}
