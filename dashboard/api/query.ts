// Reads of the control plane, kept by address: a page shows what it had at once and asks again behind it.
import { type Signal, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { answerOf, api } from './client.ts'
import { ApiError } from './error.ts'
import { gatewayTime } from './gateway-time.ts'
import type { paths } from './schema.d.ts'
import { signedOut } from './session.ts'

type Json<T> = T extends { responses: { 200: { content: { 'application/json': infer R } } } } ? R : never
/** Paths that answer GET with JSON. */
export type GetPath = {
  [P in keyof paths]: paths[P] extends { get: infer G } ? ([Json<G>] extends [never] ? never : P) : never
}[keyof paths]
export type Got<P extends GetPath> = paths[P] extends { get: infer G } ? Json<G> : never

export interface GetOptions {
  params?: Readonly<Record<string, string | number>>
  query?: Readonly<Record<string, string | number | boolean | undefined>>
}

export interface Loaded<T> {
  readonly data: T | undefined
  readonly error: ApiError | null
  /** Epoch ms of the data, by the gateway's clock. */
  readonly at: number
  readonly loading: boolean
}

interface Entry {
  readonly path: string
  readonly state: Signal<Loaded<unknown>>
  /** Asks, or joins a call that is under way. */
  readonly load: () => Promise<void>
  /** Asks with a call that begins after this one: a call under way may have been answered before a change. */
  readonly reload: () => Promise<void>
  /** Epoch ms of the last answer or failure. */
  answeredAt: number
  readers: number
}

const FRESH_MS = 2000
const KEPT = 100
const entries = new Map<string, Entry>()

/** The age of the oldest unanswered call tells whether the gateway is there. By its clock, as what is read with it. */
export const unreachableSince = signal<number | null>(null)
/** Epoch ms of the newest answer of the control plane: the age of what is on the screen. */
export const answeredAt = signal(0)

/**
 * Returns the answer of a GET and asks again when the page gets focus or `invalidate` names the path. null: asks nothing.
 * @param every ms between reads while the page is visible; default: none
 */
export function useGet<P extends GetPath>(path: P | null, options: GetOptions = {}, every?: number): Loaded<Got<P>> {
  const key = path === null ? '' : keyOf(path, options)
  const entry = path === null ? NOTHING : entryOf(key, path, options)
  useEffect(() => {
    if (path === null) return
    entry.readers++
    const refresh = () => void entry.load()
    if (Date.now() - entry.answeredAt > FRESH_MS) refresh()
    const focused = () => {
      if (document.visibilityState === 'visible' && Date.now() - entry.answeredAt > FRESH_MS) refresh()
    }
    document.addEventListener('visibilitychange', focused)
    addEventListener('focus', focused)
    const timer = every === undefined ? undefined : setInterval(() => document.visibilityState === 'visible' && refresh(), every)
    return () => {
      entry.readers--
      document.removeEventListener('visibilitychange', focused)
      removeEventListener('focus', focused)
      clearInterval(timer)
    }
  }, [key, every])
  return entry.state.value as Loaded<Got<P>>
}

/** Asks again for what is on the screen under these paths, after a change. */
export async function invalidate(...prefixes: string[]): Promise<void> {
  const touched = [...entries].filter(([, { path }]) => prefixes.some((prefix) => path.startsWith(prefix)))
  for (const [key, { readers }] of touched) if (readers === 0) entries.delete(key)
  await Promise.all(touched.filter(([, { readers }]) => readers > 0).map(([, { reload }]) => reload()))
}

export async function invalidateAll(): Promise<void> {
  await invalidate('/')
}

function keyOf(path: string, { params, query }: GetOptions): string {
  return `${path} ${JSON.stringify(params ?? {})} ${JSON.stringify(query ?? {})}`
}

function entryOf(key: string, path: GetPath, options: GetOptions): Entry {
  const known = entries.get(key)
  if (known !== undefined) return known
  for (const [old, { readers }] of entries) if (entries.size >= KEPT && readers === 0) entries.delete(old)
  const state = signal<Loaded<unknown>>({ data: undefined, error: null, at: 0, loading: true })
  let running: Promise<void> | null = null
  const load = async (): Promise<void> => {
    state.value = { ...state.value, loading: true }
    try {
      const init = { params: { path: options.params, query: options.query } }
      const data = await answerOf((api.GET as (path: string, init: object) => Promise<{ response: Response }>)(path, init))
      unreachableSince.value = null
      answeredAt.value = gatewayTime()
      state.value = { data, error: null, at: gatewayTime(), loading: false }
    } catch (thrown) {
      const error = ApiError.unreachable(thrown)
      if (error.status === 0) unreachableSince.value ??= gatewayTime()
      state.value = { ...state.value, error, loading: false }
    }
    entry.answeredAt = Date.now()
  }
  const entry: Entry = {
    path,
    state,
    readers: 0,
    answeredAt: 0,
    load: () => {
      running ??= load().finally(() => {
        running = null
      })
      return running
    },
    reload: async () => {
      await running
      await entry.load()
    },
  }
  entries.set(key, entry)
  return entry
}

const NOTHING: Entry = {
  path: '',
  state: signal<Loaded<unknown>>({ data: undefined, error: null, at: 0, loading: false }),
  load: async () => {},
  reload: async () => {},
  answeredAt: 0,
  readers: 0,
}

signedOut.subscribe((out) => {
  if (!out) void invalidateAll()
})
