// A gateway with accounts, its clock, and a recorder of the event.
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin, Services } from '../../../core/types/plugin/plugin.ts'
import { ask } from '../keys/support.ts'

export interface Window {
  name: string
  unit: string
  model: string | null
  used: number | null
  limit: number | null
  remaining: number | null
  remaining_pct: number | null
  resets_at: string | null
  exhausted: boolean
}

export interface Snapshot {
  connection_id: number
  provider: string
  windows: Window[]
  exhausted: boolean
  resets_at: string | null
  source: string
  fetched_at: string
  error: string | null
  [member: string]: unknown
}

export interface World extends TestGateway {
  readonly clock: FakeClock
  readonly told: { provider: string; account_id: string; occurred_at: string }[]
  readonly service: Services['quota']
  snapshots(query?: string): Promise<Snapshot[]>
  send(model?: string): Promise<Response>
}

export async function world(
  options: Omit<TestGatewayOptions, 'upstream'> & { upstream?: Step[]; clock?: FakeClock } = {},
): Promise<World> {
  const clock = options.clock ?? fakeClock()
  const told: World['told'] = []
  let service: Services['quota'] | undefined
  const ears = definePlugin({
    name: 'ears',
    requires: ['quota'],
    setup(gateway) {
      service = gateway.use('quota')
      gateway.events.on('account.quota_exhausted', (data) => void told.push(data))
    },
  })
  const plugins: Plugin[] = [...(options.plugins ?? []), ears()]
  const t = await createTestGateway({ ...options, plugins, ports: { clock, ...options.ports } })
  return {
    ...t,
    clock,
    told,
    get service() {
      if (service === undefined) throw new Error('The quota service was not provided.')
      return service
    },
    snapshots: async (query = '') => ((await (await t.fetch(`/api/quota${query}`)).json()) as { data: Snapshot[] }).data,
    send: (model = 'chat/m') => t.post('/v1/chat/completions', ask(model)),
  }
}
