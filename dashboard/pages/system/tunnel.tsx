// Tunnels: a public address for a gateway on this computer.
import { answerOf, api } from '../../api/client.ts'
import { type Got, invalidate, useGet } from '../../api/query.ts'
import { UNKNOWN } from '../../app/format.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Facts, Loading, Panel } from '../../ui/page.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'

type Tunnels = Got<'/api/tunnel/status'>
type Provider = keyof Tunnels

const LOOK_MS = 5000
const NAMES: Record<Provider, string> = { cloudflare: 'Cloudflare', tailscale: 'Tailscale Funnel' }
const PROGRAMS: Record<Provider, string> = { cloudflare: 'cloudflared', tailscale: 'tailscale' }
const TONES: Record<Tunnels['cloudflare']['state'], Tone> = {
  off: 'quiet',
  starting: 'waiting',
  running: 'ok',
  waiting: 'waiting',
  failed: 'failed',
}

export function Tunnel() {
  const tunnels = useGet('/api/tunnel/status', {}, LOOK_MS)
  return (
    <Loading of={tunnels}>
      {(data) => (
        <>
          {(Object.keys(NAMES) as Provider[]).map((provider) => (
            <One key={provider} provider={provider} of={data} />
          ))}
          <p class="quiet">
            A tunnel opens only with required client keys and a dashboard password, because strangers can reach its address.
          </p>
        </>
      )}
    </Loading>
  )
}

function One({ provider, of: data }: { provider: Provider; of: Tunnels }) {
  const { available, state, url, started_at, error } = data[provider]
  const loggedIn = provider === 'tailscale' ? data.tailscale.logged_in : null
  const open = async (): Promise<void> => {
    if (!confirm(`Give this gateway a public address through ${NAMES[provider]}?`)) return
    await answerOf(api.POST('/api/tunnel/enable', { body: { provider } })).finally(() => invalidate('/api/tunnel/status'))
  }
  const close = async (): Promise<void> => {
    await answerOf(api.POST('/api/tunnel/disable', { body: { provider } }))
    await invalidate('/api/tunnel/status')
  }
  return (
    <Panel
      title={NAMES[provider]}
      actions={
        state === 'off' ? (
          <Button label={`Open a tunnel with ${NAMES[provider]}`} onClick={open}>
            Open
          </Button>
        ) : (
          <Button kind="danger" label={`Close the tunnel of ${NAMES[provider]}`} onClick={close}>
            Close
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [
            'State',
            <Status key="state" tone={TONES[state]}>
              {state}
            </Status>,
          ],
          [
            'Public address',
            url === null ? (
              UNKNOWN
            ) : (
              <span key="url">
                <code>{url}</code> <Copy text={url} />
              </span>
            ),
          ],
          ['Program', available ? `${PROGRAMS[provider]} is installed` : `${PROGRAMS[provider]} is not installed`],
          ...(loggedIn === null ? [] : [['Logged in', loggedIn ? 'yes' : 'no'] as const]),
          ['Open since', started_at === null ? UNKNOWN : <Ago key="since" at={started_at} />],
          ...(error === null ? [] : [['Problem', error] as const]),
        ]}
      />
    </Panel>
  )
}
