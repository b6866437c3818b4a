// Tries a connection in a gateway of its own, in memory: nothing is stored before the connection works.
import { silentLog } from '../../../core/log.ts'
import { type ControlPlane, planeOf } from '../control-plane/control-plane.ts'
import { ApiFailure } from '../fail.ts'

/** A row of GET /api/registry, with the members that are used. */
export interface Vendor {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly docs_url: string | null
  readonly base_url: string | null
  readonly needs_key: boolean
  readonly key_variable: string | null
}

export interface Draft {
  readonly provider: string
  readonly label: string
  readonly apiKey?: string
  readonly baseUrl?: string
  readonly wireFormat?: string
}

export interface Tried {
  readonly ok: boolean
  readonly model: string | null
  readonly latency_ms: number
  /** Number of models that the provider lists, or else that are known of it. */
  readonly models: number
  readonly error: { readonly kind: string; readonly message: string; readonly hint: string } | null
}

/** Names of variables that lead to stored data or limit callers; the trial must not see them. */
const STORES = /^(?:GATEWAY_)?(?:DATABASE_URL|REDIS_URL|DATA_DIR|MASTER_KEY\w*|CONFIG|PROFILE|REQUIRE_API_KEY|DASHBOARD\w*)$/

export async function inMemory<T>(config: object, work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  const { createGateway } = await import('../../node/gateway.ts')
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !STORES.test(name)))
  const gateway = await createGateway(config, { log: silentLog, env })
  try {
    return await work(planeOf(gateway))
  } finally {
    await gateway.close()
  }
}

export async function vendors(): Promise<readonly Vendor[]> {
  const { data } = await inMemory({}, ({ call }) => call<{ data: Vendor[] }>('GET', '/api/registry'))
  return data
}

/** Sends one small request over the connection and counts its models. @throws ApiFailure for a wrong draft. */
export function tried(draft: Draft, asked: string | undefined): Promise<Tried> {
  return inMemory({ connections: { main: draft } }, async ({ call }) => {
    const { data: connections } = await call<{ data: { id: number }[] }>('GET', '/api/providers')
    const path = `/api/providers/${connections[0]?.id}/test`
    const { data: listed } = await call<{ data: { model: string; source: string }[] }>('GET', '/api/model-catalog')
    // With a wrong key the list is empty: any model then shows the refusal.
    const first = listed[0]?.model.slice(draft.provider.length + 1) ?? 'model'
    const ask = (model: string | undefined) => call<Omit<Tried, 'models'>>('POST', path, { model })
    const verdict = await ask(asked).catch((error: unknown) => {
      // The gateway knows no model to test this provider with: take one that the provider lists.
      if (error instanceof ApiFailure && error.param === 'model' && asked === undefined) return ask(first)
      throw error
    })
    return { ...verdict, models: listed.length }
  })
}
