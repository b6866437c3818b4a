// Facts about accounts that need attention: circuits, refused credentials, cooldowns, exhausted quotas, and outages of providers.
import type { AttentionFacts, AttentionItem, AttentionLever } from '../../core/types/attention.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { AccountBook } from './accounts/account-book.ts'
import { recordOf } from './api.ts'
import { MAJOR, type OutageWatch } from './events.ts'
import { type Moves, movedText, together } from './moves.ts'
import type { AccountStateRecord } from './service.ts'
import type { Slowdown } from './slowdown.ts'

/** Facts of one list that are compared with the time before: each reads rows. */
const MOST_LOOKS = 5

type Account = ReturnType<Services['accounts']['list']>[number]

export function accountFacts(
  gateway: PluginGateway,
  book: AccountBook,
  outage: OutageWatch,
  moves: Pick<Moves, 'read'>,
  slower: Slowdown,
): AttentionFacts {
  const { clock } = gateway
  const accounts = gateway.use('accounts')
  const wall = (monotonic: number) => Math.round(clock.now() - (clock.monotonic() - monotonic))
  return async ({ orgId }) => {
    const lost = await moves.read()
    const mine = accounts.list().filter((account) => account.orgId === orgId && account.enabled)
    const states = mine.map((account) => ({
      account,
      state: recordOf(book.of(account.connection.id), account.connection, clock),
    }))
    const others = (account: Account) =>
      states.filter(
        (one) =>
          one.account !== account &&
          one.account.connection.provider === account.connection.provider &&
          one.state.status === 'active',
      ).length
    // Labels of other organizations are theirs.
    const nameOf = (id: string): string => {
      const own = mine.find(({ connection }) => connection.id === id)?.connection
      if (own !== undefined) return `${own.provider}/${own.label}`
      return accounts.list().find(({ connection }) => connection.id === id)?.connection.provider ?? 'another connection'
    }
    const movedOf = (some: readonly Account[]): string | null =>
      movedText(together(some.flatMap(({ connection }) => lost.get(connection.id) ?? [])), nameOf)
    const items = states.flatMap(({ account, state }) => {
      const { breaker, lastError } = book.of(account.connection.id)
      const since = breaker.openedAt === null ? (lastError?.at ?? null) : wall(breaker.openedAt)
      const effect = movedOf([account]) ?? effectOf(account.connection.provider, others(account))
      return accountFact(account, state, since, effect)
    })
    let looks = MOST_LOOKS
    const timed = async (item: AttentionItem, some: readonly Account[]): Promise<AttentionItem> => {
      // A lock is no failure: what its requests took before tells nothing.
      if (item.since === null || item.kind === 'models_locked' || looks-- <= 0) return item
      const ids = some.map(({ connection }) => connection.id)
      // Without the database there is still the rest of the fact.
      const words = await slower(orgId, ids, item.since).catch(() => null)
      return words === null ? item : { ...item, effect: `${item.effect} ${words}` }
    }
    const providers = new Set(mine.map(({ connection }) => connection.provider))
    const outages = outage.current(orgId).filter(({ provider }) => providers.has(provider))
    const ofProvider = (provider: string) => mine.filter(({ connection }) => connection.provider === provider)
    const facts = outages.map(({ provider, errors, since }) =>
      outageFact(provider, errors, wall(since), movedOf(ofProvider(provider))),
    )
    const ofItem = ({ subject }: AttentionItem) => mine.filter(({ connection }) => connection.id === subject.id)
    return Promise.all([
      ...items.map((item) => timed(item, ofItem(item))),
      ...facts.map((item) => timed(item, ofProvider(item.subject.id))),
    ])
  }
}

function accountFact(account: Account, state: AccountStateRecord, since: number | null, effect: string): AttentionItem[] {
  const { connection, name } = account
  const label = `${connection.provider}/${connection.label}`
  const until = (time: string | null) => (time === null ? '' : ` until ${time}`)
  const fact = {
    subject: { kind: 'connection', id: connection.id, label },
    since,
    effect,
    link: `/connections?open=${connection.id}`,
  }
  const test = lever('Test it', 'POST', `/api/providers/${connection.id}/test`)
  const locks = lever('End its locks', 'DELETE', `/api/providers/${connection.id}/locks`)
  // The file owns its rows, so such a connection is held back for a time instead.
  const disable = [
    name === null
      ? lever('Disable it', 'PUT', `/api/providers/${connection.id}`, { enabled: false })
      : lever('Lock it for an hour', 'POST', `/api/providers/${connection.id}/locks`, { minutes: 60 }),
  ]
  switch (state.status) {
    case 'auth_failed':
      return [
        {
          ...fact,
          kind: 'credential_refused',
          severity: 'critical',
          title: `The provider refuses the credential of ${label}.`,
          levers: [test, ...disable],
        },
      ]
    case 'quota_exhausted':
      return [
        {
          ...fact,
          kind: 'quota_exhausted',
          severity: 'warning',
          title: `${label} has no quota left${until(state.quota_resets_at)}.`,
          levers: [test, ...disable],
        },
      ]
    case 'circuit_open':
      return [
        {
          ...fact,
          kind: 'circuit_open',
          severity: state.breaker === 'open' ? 'critical' : 'warning',
          title:
            state.breaker === 'open'
              ? `The circuit of ${label} is open${until(state.cooldown_until)} after ${state.consecutive_failures} failures.`
              : `The circuit of ${label} is half open: the next request tries it.`,
          levers: [test, ...disable],
        },
      ]
    case 'cooldown':
      return [
        {
          ...fact,
          kind: 'cooldown',
          severity: 'warning',
          title: `${label} rests${until(state.cooldown_until)}, because the provider limits it.`,
          levers: [test, ...disable],
        },
      ]
    default:
      return lockFact(state, label, fact, locks)
  }
}

function lockFact(
  { model_locks }: AccountStateRecord,
  label: string,
  fact: Pick<AttentionItem, 'subject' | 'since' | 'effect' | 'link'>,
  locks: AttentionLever,
): AttentionItem[] {
  const all = model_locks.find(({ model }) => model === '*')
  if (all === undefined) return []
  const by = all.reason === 'operator' ? ' by an operator' : ''
  const title = `All models of ${label} are locked${by} until ${all.until}.`
  return [{ ...fact, kind: 'models_locked', severity: 'warning', title, levers: [locks] }]
}

function effectOf(provider: string, others: number): string {
  if (others === 0) return `Requests to ${provider} have no other connection of this provider.`
  return `Requests go to ${others} other ${others === 1 ? 'connection' : 'connections'} of ${provider}.`
}

function outageFact(provider: string, errors: number, since: number, moved: string | null): AttentionItem {
  return {
    kind: 'provider_outage',
    severity: errors < MAJOR ? 'warning' : 'critical',
    subject: { kind: 'provider', id: provider, label: provider },
    title: `${provider} failed ${errors} times within a minute.`,
    since,
    effect: moved ?? 'Requests are retried on other connections and targets, where there are any.',
    levers: [],
    link: `/requests?filter=provider%3A${encodeURIComponent(provider)}`,
  }
}

function lever(
  label: string,
  method: AttentionLever['method'],
  path: string,
  body: AttentionLever['body'] = null,
): AttentionLever {
  return { label, method, path, body }
}
