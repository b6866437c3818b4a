// The attempts of a request on one time axis: who was asked, for how long, what came of it, and who was passed over.

import { useState } from 'preact/hooks'
import type { Got } from '../../api/query.ts'
import { ms } from '../../app/format.ts'
import { Notice } from '../../ui/page.tsx'
import { HttpStatus, Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Money, Time } from '../../ui/text.tsx'

export type Details = Got<'/api/logs/{request_id}'>
type Attempt = Details['attempts'][number]

/** Verdicts as words of a sentence. */
const ACTIONS: Readonly<Record<string, string>> = {
  returned: 'returned',
  next_account: 'next account',
  next_target: 'next target',
  retried: 'retried',
  stripped: 'stripped fields and retried',
  waited: 'waited and retried',
  gave_up: 'gave up',
}

function verdict({ action, error, cause, waited_ms }: Attempt): string {
  const words = action === null ? 'ended' : (ACTIONS[action] ?? action.replaceAll('_', ' '))
  const wait = waited_ms === null ? '' : `, waited ${ms(waited_ms)}`
  return error === null ? words + wait : `${cause ?? error.code ?? 'failed'} → ${words}${wait}`
}

export function Waterfall({ details }: { details: Details }) {
  const [asTable, setAsTable] = useState(false)
  const { attempts } = details
  if (attempts.length === 0)
    return (
      <Notice>No upstream was asked: {details.cached ? 'the cache had the answer.' : 'the gateway answered by itself.'}</Notice>
    )
  const tried = attempts.filter(({ skipped }) => skipped === null)
  const skipped = attempts.filter(({ skipped }) => skipped !== null)
  const start = Date.parse(details.created_at)
  const whole = Math.max(details.latency_ms, 1)
  return (
    <div class="waterfall">
      {skipped.map((attempt) => (
        <p key={attempt.n} class="quiet">
          skipped {attempt.provider}/{attempt.model}: {attempt.skipped?.reason.replaceAll('_', ' ')}
          {attempt.skipped?.until != null && (
            <>
              {' '}
              until <Time at={attempt.skipped.until} />
            </>
          )}
        </p>
      ))}
      {asTable ? (
        <Table
          label="Attempts"
          rows={tried}
          rowKey={({ n }) => n}
          columns={[
            { id: 'n', title: '#', cell: ({ n }) => n },
            { id: 'target', title: 'Target', cell: ({ provider, model }) => `${provider}/${model}` },
            { id: 'status', title: 'Status', cell: ({ status }) => (status === null ? '—' : <HttpStatus status={status} />) },
            { id: 'start', title: 'Began after', numeric: true, cell: ({ started_at }) => ms(Date.parse(started_at) - start) },
            { id: 'first', title: 'First content', numeric: true, wide: true, cell: ({ ttft_ms }) => ms(ttft_ms) },
            { id: 'waited', title: 'Waited', numeric: true, wide: true, cell: ({ waited_ms }) => ms(waited_ms) },
            {
              id: 'format',
              title: 'Format',
              wide: true,
              cell: ({ wire_format, lane }) => (wire_format === null ? '—' : `${wire_format}${lane === null ? '' : `, ${lane}`}`),
            },
            { id: 'time', title: 'Time', numeric: true, cell: ({ latency_ms }) => ms(latency_ms) },
            { id: 'cost', title: 'Cost', numeric: true, cell: ({ cost_usd }) => <Money usd={cost_usd} /> },
            { id: 'verdict', title: 'Verdict', cell: verdict },
          ]}
        />
      ) : (
        <>
          <p class="axis" aria-hidden="true">
            <span>0 ms</span>
            <span>{ms(whole / 2)}</span>
            <span>{ms(whole)}</span>
          </p>
          {folded(tried).map(({ attempt, times }) => {
            const from = Math.max(0, Date.parse(attempt.started_at) - start)
            const failed = attempt.error !== null || (attempt.status ?? 0) >= 400
            return (
              <div key={attempt.n} class="attempt">
                <p>
                  <strong>
                    {attempt.n} {attempt.provider}/{attempt.model}
                  </strong>
                  {times > 1 && ` ×${times}`}
                  {attempt.role !== null && ` (${attempt.role})`}{' '}
                  {attempt.status === null ? <Status tone="failed">no answer</Status> : <HttpStatus status={attempt.status} />}{' '}
                  {ms(attempt.latency_ms)} · {verdict(attempt)}
                </p>
                <svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="track" x={0} y={4} width={1000} height={4} />
                  <rect
                    class={failed ? 'bad' : 'good'}
                    x={(from / whole) * 1000}
                    y={0}
                    width={Math.max(((attempt.latency_ms ?? 0) / whole) * 1000, 3)}
                    height={12}
                  />
                </svg>
                {attempt.error !== null && <p class="quiet clip-lines">{attempt.error.message}</p>}
              </div>
            )
          })}
        </>
      )}
      <button type="button" class="button plain" onClick={() => setAsTable(!asTable)}>
        {asTable ? 'Show as bars' : 'Show as table'}
      </button>
    </div>
  )
}

/** Equal neighbours are one line. */
function folded(attempts: readonly Attempt[]): { attempt: Attempt; times: number }[] {
  const lines: { attempt: Attempt; times: number }[] = []
  for (const attempt of attempts) {
    const before = lines.at(-1)
    const same =
      before !== undefined &&
      before.attempt.provider === attempt.provider &&
      before.attempt.model === attempt.model &&
      before.attempt.connection_id === attempt.connection_id &&
      before.attempt.status === attempt.status &&
      before.attempt.role === attempt.role
    if (same) before.times++
    else lines.push({ attempt, times: 1 })
  }
  return lines
}
