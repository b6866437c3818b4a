// Everything about one request. Bodies are read with it only when their tab is open.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { download } from '../../api/download.ts'
import { invalidate, useGet } from '../../api/query.ts'
import { bytes, count, ms, UNKNOWN } from '../../app/format.ts'
import { handOver } from '../../app/hand-over.ts'
import { query as address, go, href } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Facts, Loading, Notice, Tabs } from '../../ui/page.tsx'
import { PluginPanels } from '../../ui/plugins/plugin-panels.tsx'
import { HttpStatus } from '../../ui/status.tsx'
import { Money, Time } from '../../ui/text.tsx'
import { Bodies } from './bodies.tsx'
import type { Row } from './rows.ts'
import { type Details, triedOf } from './timeline.ts'
import { Waterfall } from './waterfall.tsx'

const TABS = [
  { id: 'attempts', title: 'Attempts' },
  { id: 'summary', title: 'Summary' },
  { id: 'policy', title: 'Policy' },
  { id: 'bodies', title: 'Bodies' },
] as const

/** @param known the row of the list, shown until the log has the request */
export function RequestDetails({ id, known }: { id: string; known?: Row | undefined }) {
  const details = useGet('/api/logs/{request_id}', { params: { request_id: id } })
  const [again, setAgain] = useState(false)
  if (details.data === undefined && details.error?.status === 404) {
    return (
      <div class="stack">
        {known !== undefined && (
          <Facts
            facts={[
              ['Status', <HttpStatus key="status" status={known.status} />],
              ['Served by', known.provider === null ? UNKNOWN : `${known.provider}/${known.model}`],
              ['Time', ms(known.latency_ms)],
              ['Cost', <Money key="cost" usd={known.cost_usd} />],
            ]}
          />
        )}
        <Notice>
          {again
            ? 'The log has no such request. Either it was deleted, or the log is off (GATEWAY_LOG_ENABLED).'
            : 'The log does not have this request yet.'}
        </Notice>
        {!again && <Button onClick={() => invalidate('/api/logs/{request_id}').then(() => setAgain(true))}>Look again</Button>}
      </div>
    )
  }
  return <Loading of={details}>{(data) => <Shown details={data} />}</Loading>
}

function Shown({ details }: { details: Details }) {
  const given = address.value.get('tab')
  const tab = TABS.some(({ id }) => id === given) ? given : 'attempts'
  const remove = async (): Promise<void> => {
    if (!confirm('Delete this request from the log? Usage and budgets stay as they are.')) return
    await answerOf(api.DELETE('/api/logs/{request_id}', { params: { path: { request_id: details.request_id } } }))
    await invalidate('/api/logs')
    go('/requests')
  }
  return (
    <>
      <p class="request-head">
        <HttpStatus status={details.status} attempts={triedOf(details.attempts).length} />{' '}
        <strong>{details.requested_model}</strong>
        {details.provider !== null && ` → ${details.provider}/${details.model}`} · {ms(details.latency_ms)} ·{' '}
        <Money usd={details.cost_usd} /> · <Time at={details.created_at} />
      </p>
      {details.error_message !== null && (
        <Notice tone="error">
          {details.error_code !== null && <code>{details.error_code}</code>} {details.error_message}
        </Notice>
      )}
      <Tabs tabs={TABS} current={tab as string} />
      <AddressNote name="tab" shown={tab} />
      {tab === 'attempts' && <Waterfall details={details} />}
      {tab === 'summary' && <Summary details={details} />}
      {tab === 'policy' && <Policy details={details} />}
      {tab === 'bodies' && <Bodies details={details} />}
      <PluginPanels slot="request" id={details.request_id} />
      <div class="actions">
        <Copy text={location.origin + href(`/requests/${details.request_id}`)} label="Copy link" />
        {details.request_body !== null && details.wire_format in PLAYABLE && <Again of={details} />}
        <Button onClick={() => download(`/api/logs/${details.request_id}/export`, `${details.request_id}.json`)}>Export</Button>
        {details.session_id !== null && (
          <a class="button" href={href(`/requests?filter=${encodeURIComponent(`session:${details.session_id}`)}`)}>
            Same session
          </a>
        )}
        {details.key_id !== null && (
          <a class="button" href={href(`/requests?filter=key:${details.key_id}`)}>
            Same key
          </a>
        )}
        {may('manage') && (
          <Button kind="danger" onClick={remove}>
            Delete
          </Button>
        )}
      </div>
    </>
  )
}

const PLAYABLE: Readonly<Record<string, true>> = { chat: true, messages: true, responses: true, generate_content: true }

function Again({ of: { request_body, wire_format, requested_model } }: { of: Details }) {
  const open = (): void => {
    handOver(JSON.parse(request_body ?? '{}') as Record<string, unknown>)
    go(`/playground?${new URLSearchParams({ dialect: wire_format, model: requested_model })}`)
  }
  return <Button onClick={open}>Try again in the playground</Button>
}

function Summary({ details }: { details: Details }) {
  const { tokens } = details
  return (
    <Facts
      facts={[
        ['Request', <code key="id">{details.request_id}</code>],
        ['Endpoint', details.endpoint ?? UNKNOWN],
        ['Format', details.wire_format],
        ['Streamed', details.stream ? 'yes' : 'no'],
        ['Source', details.source],
        ['Key', details.api_key_label ?? UNKNOWN],
        ['Virtual model', details.virtual_model ?? UNKNOWN],
        ['Cost center', details.cost_center ?? UNKNOWN],
        ['Session', details.session_id ?? UNKNOWN],
        ['User', details.user_id ?? UNKNOWN],
        ['First token', ms(details.ttft_ms)],
        ['Whole time', ms(details.latency_ms)],
        ['Size of the request', bytes(details.request_bytes)],
        [
          'Tokens in',
          `${count(tokens.prompt)} (${count(tokens.cache_read)} read from cache, ${count(tokens.cache_write)} written)`,
        ],
        ['Tokens out', `${count(tokens.completion)} (${count(tokens.reasoning)} reasoning)`],
        ['Cost', details.cost_usd === null ? 'No price is known for this model.' : <Money key="cost" usd={details.cost_usd} />],
        ['Charged', <Money key="charge" usd={details.charge_usd} />],
      ]}
    />
  )
}

function Policy({ details }: { details: Details }) {
  const lists = {
    Guardrails: details.guardrails,
    'Payload rules': details.payload_rules,
    Notes: details.notes,
    Properties: details.properties,
  }
  return (
    <div class="stack">
      <Facts facts={[['Cache', details.cached ? `answered by the ${details.cache_type ?? ''} cache` : 'not from the cache']]} />
      {Object.entries(lists).map(([title, value]) => (
        <section key={title}>
          <h3>{title}</h3>
          {value === null ? <p class="quiet">none</p> : <pre>{JSON.stringify(value, null, 2)}</pre>}
        </section>
      ))}
    </div>
  )
}
