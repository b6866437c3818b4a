// Gateways over several scripted upstreams, each a provider of its own, and virtual models made through the API.
import { randomBytes } from 'node:crypto'
import { type Step, text } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { PresetOptions } from '../../../plugins/preset.ts'
import { preset } from '../../../plugins/preset.ts'
import { virtualModels } from '../../../plugins/virtual-models/index.ts'
import { wordCode } from '../../support/google-error.ts'

export interface Site {
  readonly t: TestGateway
  readonly up: Readonly<Record<string, ScriptedUpstream>>
  /** Creates a virtual model and returns its record. */
  make(body: Record<string, unknown>): Promise<Made>
  ask(model: string, body?: object, headers?: Record<string, string>): Promise<Response>
  /** Asks `count` times, one after the other; which upstreams answered. */
  askTimes(count: number, model: string, headers?: Record<string, string>): Promise<string[]>
  json<T = Record<string, never>>(path: string, init?: RequestInit): Promise<T>
  calls(name: string): number
  close(): Promise<void>
}

export interface Made {
  id: number
  name: string
  enabled: boolean
  position: number
  warning?: { code: string; model: string }
  [member: string]: unknown
}

export interface SiteOptions extends Omit<TestGatewayOptions, 'config'> {
  /** Of the file, beside connections and plugins. */
  config?: object
  /** Steps by upstream; default: each says its own name. */
  script?: Record<string, Step[]>
  connections?: Record<string, object>
  /** `allowedModels` by upstream. */
  narrow?: Record<string, string[]>
  options?: Parameters<typeof virtualModels>[0]
  preset?: PresetOptions
  /** Accounts rest after failures. Default false: that is another plugin's matter. */
  resilience?: boolean
}

/** Providers are named as the upstreams: `a/m` reaches upstream `a`. */
export async function site(names: readonly string[], options: SiteOptions = {}): Promise<Site> {
  const up: Record<string, ScriptedUpstream> = {}
  for (const name of names) up[name] = await scriptedUpstream(...(options.script?.[name] ?? [text(name)]))
  const connections = Object.fromEntries(
    names.map((name) => [
      name,
      {
        provider: 'custom',
        baseUrl: up[name]?.baseUrl('chat'),
        wireFormat: 'chat',
        apiKey: 'sk-upstream',
        allowedModels: options.narrow?.[name] ?? [],
      },
    ]),
  )
  const plugins = preset({ ...options.preset, virtualModels: false, ...(options.resilience ? {} : { resilience: false }) })
  const {
    script: _script,
    connections: more,
    options: own,
    preset: _preset,
    narrow: _narrow,
    resilience: _resilience,
    config,
    ...rest
  } = options
  const t = await createTestGateway({
    ...rest,
    config: { ...config, connections: { ...connections, ...more } as never, plugins: [...plugins, virtualModels(own)] },
    ports: { env: { GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'), ...prefixed(options.env) }, ...options.ports },
  })
  const ask: Site['ask'] = (model, body = {}, headers = {}) =>
    t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], ...body }, headers)
  return {
    t,
    up,
    ask,
    async make(body) {
      const response = await t.post('/api/virtual-models', body)
      if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
      return (await response.json()) as Made
    },
    async askTimes(count, model, headers) {
      const answered: string[] = []
      for (let i = 0; i < count; i++) {
        const settled = t.settled.length
        const response = await ask(model, {}, headers)
        answered.push(response.status === 200 ? contentOf(await response.json()) : `${response.status}`)
        await t.untilSettled(settled + 1)
      }
      return answered
    },
    json: async (path, init) => (await (await t.fetch(path, init)).json()) as never,
    calls: (name) => up[name]?.requests.length ?? 0,
    async close() {
      await t.close()
      for (const upstream of Object.values(up)) await upstream.close()
    },
  }
}

export function contentOf(answer: unknown): string {
  return (answer as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? ''
}

export interface Refusal {
  status: number
  type: string
  code: string | null
  param: string | null
  message: string
}

export async function refusalOf(response: Response): Promise<Refusal> {
  const { error } = (await response.json()) as { error: Omit<Refusal, 'status'> }
  return { ...error, code: wordCode(error) as Refusal['code'], status: response.status }
}

/** Seeded, in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function prefixed(env: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`GATEWAY_${name}`, value]))
}
