// At most one banner, the worst first.
import { useEffect } from 'preact/hooks'
import { answeredAt, unreachableSince, useGet } from '../../api/query.ts'
import { otherVersion, seenVersion } from '../../api/version.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { Ago } from '../../ui/text.tsx'
import { href } from '../location.ts'
import { me } from '../session/me.ts'

export function Banner() {
  const health = useGet('/healthz', {}, 15_000)
  const attention = useGet(me.value === null ? null : '/api/attention')
  const refused = attention.data?.data.find(({ kind }) => kind === 'reload_refused')
  const version = health.data?.version
  useEffect(() => {
    if (version !== undefined) seenVersion(version)
  }, [version])
  if (unreachableSince.value !== null)
    return (
      <Notice tone="error">
        The gateway does not answer.{' '}
        {answeredAt.value > 0 && (
          <>
            The newest figures are from <Ago at={answeredAt.value} />;{' '}
          </>
        )}
        the first failed call was <Ago at={unreachableSince.value} />.
      </Notice>
    )
  if (refused !== undefined)
    return (
      <Notice tone="warning">
        {refused.title} The last good configuration keeps serving. <a href={href('/system?tab=config')}>See the configuration</a>.
      </Notice>
    )
  if (health.data?.status === 'draining')
    return <Notice tone="warning">The gateway is shutting down: it takes no new requests.</Notice>
  if (health.data?.status === 'degraded')
    return (
      <Notice tone="warning">
        The database or the shared store does not answer. <a href={href('/system?tab=health')}>See health</a>.
      </Notice>
    )
  if (otherVersion.value !== null)
    return (
      <Notice>
        The gateway now runs version {otherVersion.value}. This page is of the version before.{' '}
        <Button onClick={() => location.reload()}>Reload</Button>
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
