// The state of a connection as one word.
import { gatewayTime } from '../../api/gateway-time.ts'
import type { Got } from '../../api/query.ts'
import { Status, type Tone } from '../status.tsx'
import { Ago } from '../text.tsx'

/** The name of a lock of every model. */
export const ALL_MODELS = '*'

export type Connection = Got<'/api/providers'>['data'][number]

/** The server's state has more members where the plugin `resilience` runs. */
export interface ConnectionState {
  readonly status: string
  readonly cooldown_until?: string | null
  readonly breaker?: 'closed' | 'open' | 'half_open'
  readonly model_locks?: readonly { model: string; until: string | null }[]
  readonly quota_exhausted?: boolean
  readonly quota_resets_at?: string | null
  readonly consecutive_failures?: number
  readonly inflight?: number
  readonly last_error?: { message?: string; at?: string; status?: number | null } | string | null
  readonly last_used_at?: string | null
}

export function rawState(connection: Connection): ConnectionState {
  return connection.state as ConnectionState
}

interface ShownState {
  readonly tone: Tone
  readonly word: string
  readonly until: string | null
  /** What happens then. */
  readonly next?: string
}

function stateOf(connection: Connection): ShownState {
  const state = rawState(connection)
  if (!connection.enabled) return { tone: 'quiet', word: 'disabled', until: null }
  if (state.quota_exhausted === true)
    return { tone: 'waiting', word: 'quota exhausted', until: state.quota_resets_at ?? null, next: 'resets' }
  if (state.breaker === 'open')
    return { tone: 'refused', word: 'circuit open', until: state.cooldown_until ?? null, next: 'probe' }
  if (state.breaker === 'half_open') return { tone: 'waiting', word: 'probing', until: null }
  if (state.cooldown_until != null && Date.parse(state.cooldown_until) > gatewayTime())
    return { tone: 'waiting', word: 'cooling down', until: state.cooldown_until, next: 'ends' }
  if (state.status !== 'active') return { tone: 'failed', word: state.status.replaceAll('_', ' '), until: null }
  const whole = state.model_locks?.find(({ model }) => model === ALL_MODELS)
  if (whole !== undefined) return { tone: 'waiting', word: 'locked', until: whole.until, next: 'ends' }
  const locks = state.model_locks?.length ?? 0
  if (locks > 0) return { tone: 'waiting', word: locks === 1 ? '1 model locked' : `${locks} models locked`, until: null }
  return { tone: 'ok', word: 'ok', until: null }
}

export function ConnectionStatus({ connection }: { connection: Connection }) {
  const { tone, word } = stateOf(connection)
  return <Status tone={tone}>{word}</Status>
}

/** The status, and what happens next to it and when: `circuit open, probe in 24 s`. */
export function ConnectionOutlook({ connection }: { connection: Connection }) {
  const { until, next } = stateOf(connection)
  return (
    <>
      <ConnectionStatus connection={connection} />
      {until !== null && (
        <span class="quiet">
          , {next} <Ago at={until} />
        </span>
      )}
    </>
  )
}
