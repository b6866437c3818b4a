// One run: a real request whose lanes arrive as events.
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/error.ts'
import { events } from '../../api/sse.ts'
import type { Dialect } from './samples.ts'

export interface Hook {
  readonly hook: string
  readonly plugin: string
  readonly stage: string
  readonly us: number
  readonly failed: boolean
}

export interface Upstream {
  readonly call: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  /** Another organization's connection: its address, headers and raw answers are not shown. */
  readonly shared: boolean
  readonly status: number | null
  readonly raw: string
}

export interface Done {
  readonly request_id: string | null
  readonly status: number
  readonly error: { readonly message: string; readonly param: string | null; readonly code: string | null } | null
  readonly usage?: { readonly prompt: number; readonly completion: number }
  readonly cost_usd?: number | null
  readonly latency_ms?: number
  readonly first_byte_ms?: number | null
  readonly attempts: readonly {
    provider: string
    model: string
    status: number | null
    action: string | null
    error: string | null
  }[]
}

export interface Run {
  /** What was sent. */
  readonly sent: RunRequest | null
  readonly running: boolean
  readonly hooks: readonly Hook[]
  readonly upstreams: readonly Upstream[]
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly delivered: string
  readonly done: Done | null
  readonly error: ApiError | null
}

export interface RunRequest {
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
  readonly as_key?: number
}

const NOTHING: Run = {
  sent: null,
  running: false,
  hooks: [],
  upstreams: [],
  status: null,
  headers: {},
  delivered: '',
  done: null,
  error: null,
}

export function useRun(): { run: Run | null; start(request: RunRequest): Promise<Run>; stop(): void } {
  const [run, setRun] = useState<Run | null>(null)
  const abort = useRef<AbortController | null>(null)
  // A run costs money: it ends with the page that shows it.
  useEffect(() => () => abort.current?.abort(), [])
  const start = async (body: RunRequest): Promise<Run> => {
    abort.current?.abort()
    const controller = new AbortController()
    abort.current = controller
    let state: Run = { ...NOTHING, running: true, sent: body }
    let waits = false
    // Many events may come in one frame of the screen.
    const show = (): void => {
      if (waits) return
      waits = true
      requestAnimationFrame(() => {
        waits = false
        if (abort.current === controller) setRun(state)
      })
    }
    show()
    try {
      for await (const message of events({ path: '/api/playground/run', body, signal: controller.signal })) {
        if (message === null) continue
        state = next(state, message.event ?? '', JSON.parse(message.data) as never)
        show()
      }
    } catch (error) {
      if (!controller.signal.aborted) state = { ...state, error: ApiError.unreachable(error) }
    }
    state = { ...state, running: false }
    show()
    return state
  }
  return { run, start, stop: () => abort.current?.abort() }
}

type Message = Partial<Upstream & Hook & Done> & { text?: string; headers?: Record<string, string> }

function next(run: Run, event: string, data: Message): Run {
  if (event === 'hook') return { ...run, hooks: [...run.hooks, data as Hook] }
  if (event === 'upstream') return { ...run, upstreams: [...run.upstreams, { ...(data as Upstream), status: null, raw: '' }] }
  if (event === 'raw')
    return {
      ...run,
      upstreams: run.upstreams.map((one) =>
        one.call === data.call ? { ...one, status: data.status ?? one.status, raw: one.raw + (data.text ?? '') } : one,
      ),
    }
  if (event === 'delivered')
    return {
      ...run,
      status: data.status ?? run.status,
      headers: data.headers ?? run.headers,
      delivered: run.delivered + (data.text ?? ''),
    }
  if (event === 'done') return { ...run, done: data as Done }
  return run
}
