// A gateway over accounts with one upstream each, a clock that moves on request, and a recorder of events.
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Step } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { ConnectionConfig } from '../../../core/config/define.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { EventMap, Services } from '../../../core/types/plugin/plugin.ts'
import type { Attempt } from '../../../core/types/request/context.ts'
import { preset } from '../../../plugins/preset.ts'
import { SUBSCRIPTIONS } from '../../../plugins/resilience/events.ts'

export interface Told {
  type: string
  data: Record<string, unknown>
}

export interface AccountOptions extends Partial<Omit<ConnectionConfig, 'provider'>> {
  script?: Step[]
}

export interface WorldOptions extends TestGatewayOptions {
  /** Accounts of the provider `p`, by priority. */
  accounts?: AccountOptions[]
  clock?: FakeClock
}

export interface World {
  readonly t: TestGateway
  readonly clock: FakeClock
  readonly accounts: ScriptedUpstream[]
  /** Events of this plugin so far. */
  readonly told: Told[]
  readonly service: Services['accountState']
  /** Returns how often each account was called. */
  calls(): number[]
  chat(model?: string, more?: object, headers?: Record<string, string>): Promise<Response>
  /** Returns the status of one call after reading its body. */
  status(model?: string, more?: object): Promise<number>
  /** Returns `state` of /api/providers, by priority. */
  states(): Promise<Record<string, unknown>[]>
  attempts(): readonly Attempt[]
  types(): string[]
  /** Reloads the file with additional connections. */
  reload(connections: Record<string, ConnectionConfig>): Promise<void>
  close(): Promise<void>
}

export async function world({ accounts: given = [{}], clock = fakeClock(), ...options }: WorldOptions = {}): Promise<World> {
  const accounts = await Promise.all(given.map(({ script = [] }) => scriptedUpstream(...script)))
  const told: Told[] = []
  let service: Services['accountState'] | undefined
  const ears = definePlugin({
    name: 'ears',
    requires: ['accountState'],
    setup(gateway) {
      service = gateway.use('accountState')
      for (const type of Object.keys(SUBSCRIPTIONS) as (keyof typeof SUBSCRIPTIONS & keyof EventMap)[])
        gateway.events.on(type, (data) => void told.push({ type, data: data as unknown as Record<string, unknown> }))
    },
  })
  const connections = Object.fromEntries(
    given.map(({ script: _, ...more }, index) => [
      `p.${index + 1}`,
      {
        provider: 'p',
        baseUrl: accounts[index]?.baseUrl('chat'),
        wireFormat: 'chat',
        apiKey: `sk-${index + 1}`,
        ...more,
      } as ConnectionConfig,
    ]),
  )
  const plugins = [...(options.plugins ?? []), ears()]
  const t = await createTestGateway({
    ...options,
    config: { connections, ...options.config },
    plugins,
    ports: { clock, ...options.ports },
  })
  const chat = (model = 'm', more: object = {}, headers: Record<string, string> = {}) =>
    t.post('/v1/chat/completions', { model: `p/${model}`, messages: [{ role: 'user', content: 'hi' }], ...more }, headers)
  return {
    t,
    clock,
    accounts,
    told,
    chat,
    service: service as Services['accountState'],
    calls: () => accounts.map(({ requests }) => requests.length),
    async status(model, more) {
      const response = await chat(model, more)
      await response.arrayBuffer()
      return response.status
    },
    async states() {
      const { data } = (await (await t.fetch('/api/providers')).json()) as { data: { state: Record<string, unknown> }[] }
      return data.map(({ state }) => state)
    },
    attempts: () => t.settled.at(-1)?.ctx.attempts ?? [],
    types: () => told.map(({ type }) => type),
    reload: (more) =>
      t.gateway.reload({ ...options.config, connections: { ...connections, ...more }, plugins: [...preset(), ...plugins] }),
    async close() {
      await t.close()
      for (const account of accounts) await account.close()
    },
  }
}

/** The message is the vendor's, the code the gateway's. */
export async function errorIn(
  response: Response,
): Promise<{ message: string; type: string; code: string | null; param: string | null }> {
  return ((await response.json()) as { error: { message: string; type: string; code: string | null; param: string | null } })
    .error
}

/** `hold` belongs into a step: it waits until this many other `counted` calls have their answer. */
export function behind(others: number): { hold(): Promise<void>; counted<T>(asking: Promise<T>): Promise<T> } {
  let answered = 0
  return {
    hold: () => until(() => answered >= others),
    counted: (asking) => asking.finally(() => answered++),
  }
}

/** Lets I/O run until the condition holds; the gateway's clock stands still. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('It did not become true in 30 s.')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
