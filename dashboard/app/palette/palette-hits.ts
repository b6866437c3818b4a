// What the palette finds: pages, rows, models, settings and ids, and after `>` the actions. What is typed stays in the browser.
import { useGet } from '../../api/query.ts'
import { PAGES, pathOf } from '../frame/pages.ts'
import { type Hit, useActions } from './palette-actions.ts'

const SHOWN = 12
const REQUEST_ID = /req_[0-9a-f]{8}-[0-9a-f-]{27}/
const EVENT_ID = /evt_[0-9a-f]{8}-[0-9a-f-]{27}/

/** Parts of pages that have a name of their own. */
const PARTS: readonly (readonly [title: string, to: string])[] = [
  ['Spend: Budgets', '/spend?tab=budgets'],
  ['Spend: Reports', '/spend?tab=reports'],
  ['Spend: Savings', '/spend?tab=savings'],
  ['Spend: Advisor', '/spend?tab=advisor'],
  ['Spend: Prices', '/spend?tab=prices'],
  ['Connections: Accounts', '/connections?tab=sign-ins'],
  ['Webhooks: Deliveries', '/webhooks?tab=deliveries'],
  ['System: Pipeline', '/system?tab=pipeline'],
  ['System: Plugins', '/system?tab=plugins'],
  ['System: Settings', '/system?tab=settings'],
  ['System: Config', '/system?tab=config'],
  ['System: Audit', '/system?tab=audit'],
  ['System: Stored responses', '/system?tab=responses'],
  ['System: Tokens', '/system?tab=tokens'],
  ['System: Tunnel', '/system?tab=tunnel'],
  ['System: Interception', '/system?tab=interception'],
]

/** The cloud profile has no routes of these. */
const LOCAL_PARTS: ReadonlySet<string> = new Set(['/system?tab=tunnel', '/system?tab=interception'])

export function useHits(text: string): { hits: readonly Hit[]; loading: boolean } {
  const virtual = useGet('/api/virtual-models')
  const keys = useGet('/api/keys')
  const health = useGet('/healthz')
  const connections = useGet('/api/providers')
  const endpoints = useGet('/api/webhooks/endpoints')
  const models = useGet('/api/models')
  const settings = useGet('/api/settings/sources')
  const events = useGet(EVENT_ID.test(text) ? '/api/webhooks/deliveries' : null)
  const actions = useActions(connections.data?.data ?? [])
  const wanted = text.trim().toLowerCase()
  if (wanted.startsWith('>')) return { hits: fitting(actions, wanted.slice(1).trim()), loading: false }
  const request = REQUEST_ID.exec(wanted)?.[0]
  if (request !== undefined)
    return { hits: [{ id: request, title: request, kind: 'Request', to: `/requests/${request}` }], loading: false }
  const event = EVENT_ID.exec(wanted)?.[0]
  if (event !== undefined) {
    // The list of deliveries has no search, so an older event is not found here.
    const of = (events.data?.data ?? []).filter((delivery) => delivery.event_id === event)
    return {
      hits: of.map(({ id, event_type, status }) => ({
        id: `delivery ${id}`,
        title: `${event_type} · ${status}`,
        kind: 'Webhook delivery',
        to: `/webhooks?tab=deliveries&open=${id}`,
      })),
      loading: events.data === undefined && events.error === null,
    }
  }
  const all: Hit[] = [
    ...PAGES.map((page) => ({ id: `page ${page.id}`, title: page.title, kind: 'Page', to: pathOf(page) })),
    ...PARTS.filter(([, to]) => !LOCAL_PARTS.has(to) || health.data?.profile === 'local').map(([title, to]) => ({
      id: `page ${to}`,
      title,
      kind: 'Page',
      to,
    })),
    ...(virtual.data?.data ?? []).map(({ name }) => ({
      id: `vm ${name}`,
      title: name,
      kind: 'Virtual model',
      to: `/routing/${encodeURIComponent(name)}`,
    })),
    ...(keys.data?.data ?? []).map(({ id, label }) => ({ id: `key ${id}`, title: label, kind: 'Key', to: `/keys?open=${id}` })),
    ...(connections.data?.data ?? []).map(({ id, label, provider }) => ({
      id: `connection ${id}`,
      title: `${provider}/${label}`,
      kind: 'Connection',
      to: `/connections?open=${id}`,
    })),
    ...(endpoints.data?.data ?? []).map(({ id, url }) => ({
      id: `endpoint ${id}`,
      title: url,
      kind: 'Webhook',
      to: `/webhooks?open=${encodeURIComponent(id)}`,
    })),
    // Virtual models are listed above.
    ...(models.data?.data ?? [])
      .filter(({ targets }) => targets === undefined)
      .map(({ id }) => ({ id: `model ${id}`, title: id, kind: 'Model', to: `/playground?model=${encodeURIComponent(id)}` })),
    ...Object.keys(settings.data ?? {}).map((key) => ({
      id: `setting ${key}`,
      title: key,
      kind: 'Setting',
      to: `/system?tab=settings&q=${encodeURIComponent(key)}`,
    })),
  ]
  return {
    hits: fitting(all, wanted),
    loading: [virtual, keys, connections, endpoints, models, settings].some(({ data, loading }) => data === undefined && loading),
  }
}

/** Names that begin with the text come before those that hold it somewhere. */
function fitting(all: readonly Hit[], wanted: string): readonly Hit[] {
  const names = all.map((hit) => ({ hit, at: hit.title.toLowerCase().indexOf(wanted) })).filter(({ at }) => at !== -1)
  return [...names.filter(({ at }) => at === 0), ...names.filter(({ at }) => at > 0)].slice(0, SHOWN).map(({ hit }) => hit)
}
