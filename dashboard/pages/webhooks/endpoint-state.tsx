// The state of an endpoint, and the part of its deliveries that it accepted.
import { count, percent, UNKNOWN } from '../../app/format.ts'
import { Part } from '../../ui/charts/part.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'
import type { Endpoint } from './endpoint-form.tsx'

export function EndpointState({ of: { enabled, failing_since, disables_at, auto_disabled_at } }: { of: Endpoint }) {
  if (!enabled && auto_disabled_at !== null)
    return (
      <Status tone="refused">
        disabled after five days of failures, <Ago at={auto_disabled_at} />
      </Status>
    )
  if (!enabled) return <Status tone="quiet">disabled</Status>
  if (failing_since === null) return <Status tone="ok">ok</Status>
  return (
    <span>
      <Status tone="failed">
        failing since <Ago at={failing_since} />
      </Status>
      {disables_at !== null && (
        <span class="quiet">
          , off <Ago at={disables_at} />
        </span>
      )}
    </span>
  )
}

export function Success({ of: { url, recent } }: { of: Endpoint }) {
  const ended = recent.delivered + recent.failed + recent.dead
  if (ended === 0) return <span>{UNKNOWN}</span>
  return (
    <Part label={`Delivered to ${url}`} of={recent.delivered / ended}>
      {percent(recent.delivered / ended)} <span class="quiet">of {count(ended)}</span>
    </Part>
  )
}
