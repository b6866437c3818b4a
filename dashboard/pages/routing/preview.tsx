// The order in which a request would be sent now, of the draft as it stands: who comes first, who is left out and why. Looking moves nothing.

import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { type Loaded, useGet } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { ms } from '../../app/format.ts'
import { KeyOptions } from '../../ui/key-options.tsx'
import { Loading, Notice, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago, Money } from '../../ui/text.tsx'
import type { Draft } from './draft.ts'

type Answer = paths['/api/virtual-models/preview']['post']['responses'][200]['content']['application/json']

const TYPING_MS = 300
const LOOK_MS = 5000

export function Preview({ draft, changed }: { draft: Draft; changed: boolean }) {
  const [asKey, setAsKey] = useState('')
  const [down, setDown] = useState<readonly number[]>([])
  const connections = useGet('/api/providers')
  const shown = usePreview({
    ...draft,
    name: draft.name === '' ? 'draft' : draft.name,
    ...(asKey !== '' && { as_key: Number(asKey) }),
    assume: down.map((connection_id) => ({ connection_id, state: 'down' as const })),
  })
  return (
    <Panel title={changed ? 'A request now, with this draft' : 'A request now'}>
      <div class="preview-choices">
        <label>
          as key{' '}
          <select value={asKey} onChange={(event) => setAsKey(event.currentTarget.value)}>
            <KeyOptions />
          </select>
        </label>
        <fieldset>
          <legend>assume down</legend>
          {(connections.data?.data ?? []).map(({ id, provider, label }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={down.includes(id)}
                onChange={() => setDown(down.includes(id) ? down.filter((one) => one !== id) : [...down, id])}
              />{' '}
              {provider}/{label}
            </label>
          ))}
        </fieldset>
      </div>
      {draft.targets.length === 0 ? (
        <p class="quiet">Add a target to see the order.</p>
      ) : (
        <Loading of={shown}>{(answer) => <Order of={answer} />}</Loading>
      )}
    </Panel>
  )
}

function Order({ of: { order, dropped, key } }: { of: Answer }) {
  return (
    <>
      {key !== undefined && !key.allowed && (
        <Notice tone="warning">The key “{key.label}” may not use this name: its requests get 403.</Notice>
      )}
      {key?.expired === true && <Notice tone="warning">The key “{key.label}” has expired: its requests get 401.</Notice>}
      <ol class="preview">
        {order.map(({ rank, target, draw_probability, connections_available, connections_total, signals }) => (
          <li key={`${rank} ${target}`}>
            <strong>
              {rank} {target}
            </strong>
            <span class="quiet">
              {signals.est_cost_usd !== undefined && (
                <>
                  <Money usd={signals.est_cost_usd} /> ·{' '}
                </>
              )}
              {signals.latency_ms !== undefined && `${ms(signals.latency_ms)} (${signals.latency_samples ?? 0}) · `}
              {draw_probability !== undefined && `${Math.round(draw_probability * 100)} % · `}
              {connections_available} of {connections_total} connections
            </span>
          </li>
        ))}
        {dropped.map(({ target, reason, until }) => (
          <li key={`dropped ${target}`}>
            <Status tone="refused">{target}</Status>
            <span class="quiet">
              left out: {reason.replaceAll('_', ' ')}
              {until !== undefined && (
                <>
                  {' '}
                  until <Ago at={until} />
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
      {order.length === 0 && <Notice tone="error">No target can answer now: requests to this model fail.</Notice>}
      <p class="hint">For 1,000 tokens in and 1,024 out. Looking moves nothing.</p>
    </>
  )
}

/** Asks again shortly after the draft changed, and every few seconds while the page is visible. */
function usePreview(body: Parameters<typeof ask>[0]): Loaded<Answer> {
  const [state, setState] = useState<Loaded<Answer>>({ data: undefined, error: null, at: 0, loading: true })
  const key = JSON.stringify(body)
  useEffect(() => {
    let current = true
    const look = async (): Promise<void> => {
      if (body.targets.length === 0 || document.visibilityState === 'hidden') return
      try {
        const data = await ask(body)
        if (current) setState({ data, error: null, at: Date.now(), loading: false })
      } catch (error) {
        if (current) setState((before) => ({ ...before, error: ApiError.unreachable(error), at: before.at, loading: false }))
      }
    }
    const first = setTimeout(look, TYPING_MS)
    const next = setInterval(look, LOOK_MS)
    return () => {
      current = false
      clearTimeout(first)
      clearInterval(next)
    }
  }, [key])
  return state
}

function ask(
  body: NonNullable<paths['/api/virtual-models/preview']['post']['requestBody']>['content']['application/json'],
): Promise<Answer> {
  return answerOf(api.POST('/api/virtual-models/preview', { body }))
}
