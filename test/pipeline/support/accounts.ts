// A gateway whose providers have a faulty account first and a good one behind it, for each upstream dialect:
//   two-<dialect>/m   faulty, then good        all-<dialect>/m   two faulty ones        many-<dialect>/m   nine faulty ones
import {
  createTestGateway,
  type ScriptedUpstream,
  scriptedUpstream,
  type TestGateway,
  type TestGatewayOptions,
  text,
} from '../../../adapters/testing/index.ts'
import type { ConnectionConfig } from '../../../core/config/define.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import type { Attempt, Outcome } from '../../../core/types/request/context.ts'
import { freshAccounts } from '../../support/fresh-accounts.ts'
import { type Client, clients } from './clients.ts'

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']
/** The working account's answer. */
export const FINE = 'fine, thank you'

export interface Accounts {
  readonly t: TestGateway
  readonly url: string
  readonly clients: Readonly<Record<Dialect, Client>>
  /** The scripted faulty account, when the fault is one of its steps. */
  readonly bad: ScriptedUpstream
  readonly good: ScriptedUpstream
  /** Resolves with the outcome of the request that `run` sent. */
  settle(): Promise<{ outcome: Outcome; attempts: readonly Attempt[] }>
  close(): Promise<void>
}

export interface AccountsOptions extends TestGatewayOptions {
  /** Another origin for the faulty accounts. */
  origin?: string
  /** Further options of every faulty connection, such as a proxy. */
  connection?: Partial<ConnectionConfig>
}

export async function accounts(options: AccountsOptions = {}): Promise<Accounts> {
  const bad = await scriptedUpstream()
  const good = await scriptedUpstream(text(FINE))
  const connections: Record<string, ConnectionConfig> = {}
  for (const dialect of DIALECTS) {
    const version = dialect === 'generate_content' ? 'v1beta' : 'v1'
    const faulty = {
      baseUrl: options.origin === undefined ? bad.baseUrl(dialect) : `${options.origin}/${version}`,
      wireFormat: dialect,
      apiKey: 'sk-faulty-account',
      ...options.connection,
    }
    const add = (provider: string, index: number, entry: Omit<ConnectionConfig, 'provider'>) => {
      connections[`${provider}.${index}`] = { provider, ...entry }
    }
    add(`two-${dialect}`, 1, faulty)
    add(`two-${dialect}`, 2, { baseUrl: good.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-good-account' })
    for (let index = 1; index <= 2; index++) add(`all-${dialect}`, index, faulty)
    for (let index = 1; index <= 9; index++) add(`many-${dialect}`, index, faulty)
  }
  const plugins = [freshAccounts(), ...(options.plugins ?? [])]
  const t = await createTestGateway({ ...options, plugins, config: { ...options.config, connections } })
  const { url } = await t.listen()
  let read = 0
  const counted =
    (client: Client): Client =>
    (ask) => {
      read = t.settled.length
      return client(ask)
    }
  return {
    t,
    url,
    clients: Object.fromEntries(Object.entries(clients(url)).map(([id, client]) => [id, counted(client)])) as Accounts['clients'],
    bad,
    good,
    async settle() {
      read++
      await t.untilSettled(read)
      if (t.settled.length !== read) throw new Error(`${t.settled.length - read + 1} settlements for one request.`)
      const { ctx, outcome } = t.settled[read - 1]!
      return { outcome, attempts: ctx.attempts }
    },
    async close() {
      await t.close()
      await bad.close()
      await good.close()
    },
  }
}
