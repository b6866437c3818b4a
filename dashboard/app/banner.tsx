// At most one banner, the worst first.
import { unreachableSince, useGet } from '../api/query.ts'
import { Notice } from '../ui/page.tsx'
import { Ago } from '../ui/text.tsx'
import { me } from './me.ts'

export function Banner() {
  const health = useGet('/healthz', {}, 15_000)
  if (unreachableSince.value !== null)
    return (
      <Notice tone="error">
        The gateway does not answer. What you see is from before; the last try failed <Ago at={unreachableSince.value} />.
      </Notice>
    )
  if (health.data?.status === 'draining')
    return <Notice tone="warning">The gateway is shutting down: it takes no new requests.</Notice>
  if (health.data?.status === 'degraded')
    return (
      <Notice tone="warning">
        The database or the shared store does not answer. <a href="/system?tab=health">See health</a>.
      </Notice>
    )
  if (me.value?.auth === 'open')
    return (
      <Notice>
        No password is set, so the dashboard is open to this computer only. Set one: <code>hookgate password hash</code>.
      </Notice>
    )
  return null
}
