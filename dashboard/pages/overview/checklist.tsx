// The first run: four facts. A step is ticked when the gateway has seen it, never by a click.
import { useGet } from '../../api/query.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { FirstRequest } from '../../ui/rows/first-request.tsx'
import { Status } from '../../ui/status.tsx'

const LOOK_MS = 15_000

export function Checklist() {
  const connections = useGet('/api/providers', {}, LOOK_MS)
  const keys = useGet('/api/keys', { query: { limit: 1 } }, LOOK_MS)
  const withKey = useGet('/api/logs', { query: { limit: '20', status: '2xx' } }, LOOK_MS)
  // The cloud profile does not offer `echo`.
  const local = useGet('/healthz').data?.profile === 'local'
  if (connections.data === undefined || keys.data === undefined || withKey.data === undefined) return null
  const answered = withKey.data.data.some(({ status }) => status < 300)
  const used = connections.data.data.some(({ state }) => (state as { last_used_at?: string | null }).last_used_at != null)
  const arrived = withKey.data.data.some(({ api_key_label }) => api_key_label !== null)
  const hasKey = keys.data.data.length > 0
  if ((answered || used) && hasKey && arrived) return null
  const steps: readonly { done: boolean; title: string; help: preact.ComponentChildren }[] = [
    { done: true, title: 'The gateway runs', help: null },
    {
      done: answered || used,
      title: 'A connection answers',
      help: (
        <p>
          {local && <LinkButton to="/playground">Ask echo in the playground</LinkButton>}{' '}
          <LinkButton to="/connections?add=1">Add a provider</LinkButton>
        </p>
      ),
    },
    { done: hasKey, title: 'A client key exists', help: <LinkButton to="/keys?add=1">Create a key</LinkButton> },
    { done: arrived, title: 'A request with that key arrived', help: <FirstRequest /> },
  ]
  const next = steps.findIndex(({ done }) => !done)
  return (
    <Panel title={`First steps: ${steps.filter(({ done }) => done).length} of ${steps.length}`}>
      <ol class="checklist">
        {steps.map(({ done, title, help }, index) => (
          <li key={title}>
            <Status tone={done ? 'ok' : 'quiet'}>{title}</Status>
            {index === next && help}
          </li>
        ))}
      </ol>
    </Panel>
  )
}
