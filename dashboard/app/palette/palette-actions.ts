// The actions of the palette, after `>`.
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import { nextDensity, nextTheme, nextZone } from '../display-choices.tsx'
import { ms } from '../format.ts'
import { path, query, setQuery } from '../location.ts'
import { preferences } from '../preferences.ts'
import { may } from '../session/me.ts'
import { leave, maySignOut } from '../session/sign-out.ts'

export interface Hit {
  readonly id: string
  readonly title: string
  readonly kind: string
  /** The place to go to. */
  readonly to?: string
  /** Runs instead. With a promise of text the palette stays open and shows the text. */
  readonly run?: () => unknown
}

interface Connection {
  readonly id: number
  readonly provider: string
  readonly label: string
}

/** Returns the actions that this person may take. */
export function useActions(connections: readonly Connection[]): readonly Hit[] {
  const { theme, zone, density } = preferences.value
  const paused = query.value.get('mode') === 'paused'
  const action = (title: string, does: Pick<Hit, 'to' | 'run'>): Hit => ({
    id: `action ${title}`,
    title,
    kind: 'Action',
    ...does,
  })
  const onRequests = path.value === '/requests'
  return [
    ...(may('manage')
      ? [
          action('Create a key', { to: '/keys?add=1' }),
          action('Add a connection', { to: '/connections?add=1' }),
          action('Create a virtual model', { to: '/routing/+new' }),
          action('Add a webhook endpoint', { to: '/webhooks?add=1' }),
        ]
      : []),
    ...(may('system') ? [action('Create a management token', { to: '/system?tab=tokens&add=1' })] : []),
    onRequests && paused
      ? action('Go live', { run: () => setQuery({ mode: null }) })
      : action('Pause live', onRequests ? { run: () => setQuery({ mode: 'paused' }) } : { to: '/requests?mode=paused' }),
    action('Show failed requests', { to: '/requests?filter=status%3Aerror' }),
    action(`Switch theme (now ${theme})`, { run: nextTheme }),
    action(`Switch time zone (now ${zone === 'utc' ? 'UTC' : 'local'})`, { run: nextZone }),
    action(`Switch density (now ${density === 'roomy' ? 'roomy' : 'dense'})`, { run: nextDensity }),
    ...(may('manage')
      ? connections.map((connection) =>
          action(`Test ${connection.provider}/${connection.label}`, { run: () => testConnection(connection) }),
        )
      : []),
    ...(maySignOut() ? [action('Sign out', { run: () => void leave() })] : []),
  ]
}

async function testConnection({ id, provider, label }: Connection): Promise<string> {
  const { ok, status, latency_ms, error } = await answerOf(
    api.POST('/api/providers/{id}/test', { params: { path: { id: String(id) } } as never, body: {} }),
  )
  await invalidate('/api/providers', '/api/attention')
  const name = `${provider}/${label}`
  return ok ? `✓ ${name} answered in ${ms(latency_ms)}.` : `✕ ${name}: ${status ?? 'no answer'} ${error?.message ?? ''}`
}
