// Outcomes of the requests of the window, including those that reached no upstream, and their failures in groups.
import type { ComponentChildren } from 'preact'
import type { Got } from '../../api/query.ts'
import { count, ms, percent, UNKNOWN } from '../../app/format.ts'
import { href } from '../../app/location.ts'
import { Figures } from '../../ui/charts/figures.tsx'
import { Panel } from '../../ui/page.tsx'
import { Status, toneOf } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'

type Summary = Got<'/api/logs/summary'>

/** @param children the chart below the figures */
export function Outcomes({ of: summary, children }: { of: Summary; children?: ComponentChildren }) {
  const {
    requests,
    answered,
    refused,
    failed,
    cached,
    retried,
    p50_ms,
    p95_ms,
    ttft_p50_ms,
    tokens_per_s_p50,
    truncated,
    window,
  } = summary
  return (
    <Panel title="Requests" actions={<span class="quiet">{`${minute(window.since)} to ${minute(window.until)} UTC`}</span>}>
      {truncated && <p class="quiet">There are more: these are the newest {count(requests)}.</p>}
      <Figures
        of={[
          ['Requests', count(requests), `${count(cached)} from the cache`],
          ['Answered', requests === 0 ? UNKNOWN : percent(answered / requests), `${count(retried)} after a retry`],
          ['Refused', count(refused), 'by a limit or as wrong'],
          ['Failed', count(failed), 'at the upstream or here'],
          ['Time', ms(p50_ms), `p95 ${ms(p95_ms)}`],
          ['First token', ms(ttft_p50_ms), 'of streams'],
          ['Tokens a second', tokens_per_s_p50 === null ? UNKNOWN : String(tokens_per_s_p50), 'of a stream'],
        ]}
      />
      {children}
    </Panel>
  )
}

/** Failures of the window by provider and code, the most frequent first. */
export function Failures({ of: { errors } }: { of: Summary }) {
  return (
    <Panel title="Errors" actions={<a href={href('/requests?filter=status%3Aerror')}>all</a>}>
      {errors.length === 0 ? (
        <p>
          <Status tone="ok">No request failed in this window.</Status>
        </p>
      ) : (
        <ul class="errors">
          {errors.slice(0, 6).map(({ provider, status, code, requests: times, last_at }) => (
            <li key={`${provider} ${status} ${code}`}>
              <Status tone={toneOf(status)}>{`${provider ?? 'gateway'} ${status}`}</Status>
              <span class="error-code">{code}</span>
              <strong class="figure">×{count(times)}</strong>
              <span class="quiet">
                <Ago at={last_at} />
              </span>
              <a
                href={href(
                  `/requests?filter=${encodeURIComponent(`status:${status}${provider === null ? '' : ` provider:${provider}`}`)}`,
                )}
              >
                see
              </a>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function minute(at: string): string {
  return at.slice(0, 16).replace('T', ' ')
}
