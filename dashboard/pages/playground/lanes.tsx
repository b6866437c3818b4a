// The stages of a run: the request to the upstream, its answer, the answer to the caller, and the hooks that ran.
import { useState } from 'preact/hooks'
import { bytes, count, ms, UNKNOWN } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Facts, Notice, Panel } from '../../ui/page.tsx'
import { HttpStatus, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money } from '../../ui/text.tsx'
import type { Done, Run, Upstream } from './run.ts'
import { readableText } from './samples.ts'

export function Lanes({ of: run }: { of: Run }) {
  return (
    <>
      {run.upstreams.map((upstream) => (
        <WentUp key={upstream.call} of={upstream} calls={run.upstreams.length} />
      ))}
      {run.upstreams.length === 0 && run.done !== null && (
        <Panel title="2 Went upstream">
          <p class="quiet">Nothing: the gateway or the provider in it answered by itself.</p>
        </Panel>
      )}
      <Delivered of={run} />
      {run.hooks.length > 0 && <Hooks of={run} />}
    </>
  )
}

function Delivered({ of: run }: { of: Run }) {
  const [raw, setRaw] = useState(false)
  const readable = readableText(run.delivered)
  return (
    <Panel
      title="4 You get"
      actions={
        <>
          {run.running && <Status tone="waiting">running</Status>}
          {run.status !== null && <HttpStatus status={run.status} />}
          <button type="button" class="button plain" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {raw ? 'Text' : 'Raw'}
          </button>
        </>
      }
    >
      {run.error !== null && <Notice tone="error">{run.error.message}</Notice>}
      {run.delivered !== '' && (
        <pre class={raw || readable === '' ? '' : 'prose'}>{raw || readable === '' ? pretty(run.delivered) : readable}</pre>
      )}
      <Losses of={run.headers} />
      {run.done !== null && <Outcome of={run.done} />}
    </Panel>
  )
}

/** What the gateway left out or changed on the way, as it declares it in a header. */
function Losses({ of: headers }: { of: Run['headers'] }) {
  const slugs = (headers['x-gateway-warnings'] ?? '').split(/[,\s]+/).filter(Boolean)
  const lost = slugs.filter((slug) => slug.startsWith('dropped_')).map((slug) => slug.replace('dropped_', ''))
  const changed = slugs.filter((slug) => !slug.startsWith('dropped_')).map((slug) => slug.replaceAll('_', ' '))
  return (
    <>
      {lost.length > 0 && <p class="failure">Lost, because the upstream has no such member: {lost.join(', ')}</p>}
      {changed.length > 0 && <p class="quiet">Changed: {changed.join(', ')}</p>}
      {headers.warning !== undefined && <p class="quiet">{headers.warning}</p>}
    </>
  )
}

function Outcome({ of: done }: { of: Done }) {
  return (
    <Facts
      facts={[
        ...(done.error === null ? [] : ([['Error', <span class="failure">{done.error.message}</span>]] as const)),
        ['Tokens', done.usage === undefined ? UNKNOWN : `${count(done.usage.prompt)} in, ${count(done.usage.completion)} out`],
        ['Cost', <Money key="cost" usd={done.cost_usd} />],
        ['Time', `${ms(done.latency_ms)}, first byte ${ms(done.first_byte_ms)}`],
        [
          'Attempts',
          done.attempts.map(({ provider, model, action }) => `${provider}/${model} ${action ?? ''}`).join(', ') || 'none',
        ],
        ['Request', done.request_id === null ? UNKNOWN : <a href={href(`/requests/${done.request_id}`)}>{done.request_id}</a>],
      ]}
    />
  )
}

function WentUp({ of: { call, method, url, headers, body, shared, status, raw }, calls }: { of: Upstream; calls: number }) {
  const which = calls > 1 ? `, call ${call}` : ''
  return (
    <>
      <Panel title={`2 Went upstream${which}`}>
        <p class={shared ? 'quiet' : 'upstream-url'}>
          {shared ? 'To a connection of the free pool. Its address and headers are not shown.' : `${method} ${url}`}
        </p>
        <pre>{JSON.stringify(body, null, 2)}</pre>
        {!shared && (
          <details>
            <summary>Headers, without credentials</summary>
            <pre>{Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}</pre>
          </details>
        )}
      </Panel>
      <Panel title={`3 The upstream answered${which}`} actions={status === null ? undefined : <HttpStatus status={status} />}>
        {shared ? (
          <p class="quiet">The raw answer of a connection of the free pool is not shown.</p>
        ) : (
          <details>
            <summary>{framesOf(raw)}</summary>
            <pre>{raw}</pre>
          </details>
        )}
      </Panel>
    </>
  )
}

function framesOf(raw: string): string {
  const frames = raw.split('\n').filter((line) => line.startsWith('data:')).length
  return frames > 0 ? `${count(frames)} raw frames, ${bytes(raw.length)}` : `Raw answer, ${bytes(raw.length)}`
}

const AROUND: ReadonlySet<string> = new Set(['attempt', 'call'])

function time(us: number): string {
  return us < 1000 ? `${us.toFixed(us < 10 ? 1 : 0)} µs` : ms(us / 1000)
}

function Hooks({ of: { hooks } }: { of: Run }) {
  // Hooks around a call contain the time of the call.
  const own = hooks.filter(({ hook }) => !AROUND.has(hook)).reduce((sum, { us }) => sum + us, 0)
  return (
    <Panel title={`${hooks.length} hooks ran, ${time(own)}`}>
      <Table
        label="Hooks"
        rows={hooks.map((hook, index) => ({ ...hook, index }))}
        rowKey={({ index }) => index}
        columns={[
          { id: 'hook', title: 'Hook', cell: ({ hook }) => hook },
          { id: 'plugin', title: 'Plugin', cell: ({ plugin }) => plugin },
          {
            id: 'time',
            title: 'Time',
            numeric: true,
            cell: ({ us, hook }) => `${time(us)}${AROUND.has(hook) ? ', with the call' : ''}`,
          },
          { id: 'result', title: '', cell: ({ failed }) => failed && <Status tone="failed">failed</Status> },
        ]}
      />
    </Panel>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
