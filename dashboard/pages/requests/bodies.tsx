// The stored bodies of a request; where there are none, the setting that decides it and its switch.
import { answerOf, api } from '../../api/client.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { may, me } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { Body } from './body.tsx'
import type { Details } from './timeline.ts'

const SETTING = 'request_log.bodies'
const FROM = {
  default: 'by default',
  config: 'by gateway.config.ts',
  env: 'by GATEWAY_LOG_BODIES',
  runtime: 'in the settings',
  organization: 'in the settings of the organization',
} as const

export function Bodies({ details }: { details: Details }) {
  if (details.request_body === null && details.response_body === null) return <NoBodies />
  return (
    <div class="stack">
      <Body title="Request" text={details.request_body} truncated={details.request_truncated} />
      <Body title="Answer" text={details.response_body} truncated={details.response_truncated} />
    </div>
  )
}

function NoBodies() {
  const settings = useGet('/api/settings')
  const sources = useGet('/api/settings/sources')
  const source = sources.data?.[SETTING]
  const log = settings.data?.request_log as { bodies?: boolean } | undefined
  if (source === undefined || log?.bodies === undefined) return <Notice>No bodies are stored for this request.</Notice>
  if (log.bodies)
    return (
      <Notice>No bodies are stored for this request: they were off when it came, were left out, or are no longer kept.</Notice>
    )
  return (
    <Notice>
      No bodies are stored for this request. <code>{SETTING}</code> is off {FROM[source.source]}.{' '}
      {source.pinned
        ? 'It is pinned there.'
        : may(me.value?.org == null ? 'system' : 'manage') && (
            <Button
              onClick={async () => {
                await answerOf(api.PUT('/api/settings', { body: { [SETTING]: true } as never }))
                await invalidate('/api/settings')
              }}
            >
              Store bodies from now on, encrypted
            </Button>
          )}
    </Notice>
  )
}
