// `hookgate provider`: manages connections to providers. It reads keys and never prints them.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { count, id, list, secret } from '../flag-values.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Connection {
  id: number
  provider: string
  label: string
  has_api_key: boolean
  api_key_hint: string | null
  allowed_models: string[]
  priority: number
  state: { status: string }
  managed_by: string
}

/** The result of `POST /api/providers/:id/test`. */
export interface Verdict {
  ok: boolean
  latency_ms: number
  model: string | null
  error: { kind: string; message: string; hint: string } | null
}

const byId = { id: { type: 'positional', required: true, description: 'Number of the connection' } } as const

export const add = action({
  name: 'add',
  description: 'Connect a provider of the registry, or any other with --base-url and --wire-format.',
  args: {
    provider: { type: 'positional', required: true, description: 'openai, anthropic, google, … or a name of your own' },
    'api-key': {
      type: 'string',
      description: 'Its key; `-` reads standard input or asks, `env:NAME` reads a variable now',
      valueHint: 'key',
    },
    label: { type: 'string', description: 'Name in lists', valueHint: 'text' },
    'base-url': { type: 'string', description: 'Everything before the operation path', valueHint: 'url' },
    'wire-format': { type: 'string', description: 'chat, messages, responses or generate_content', valueHint: 'format' },
    models: { type: 'string', description: 'Globs of the models it may serve, between commas; default: all', valueHint: 'globs' },
    'default-model': { type: 'string', description: 'Model that `provider test` asks', valueHint: 'model' },
    priority: { type: 'string', description: 'Lower is tried first; default: behind the others', valueHint: 'number' },
    'max-inflight': { type: 'string', description: 'Requests at once', valueHint: 'number' },
    'proxy-url': { type: 'string', description: 'http, https or socks5; `direct` for none', valueHint: 'url' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: {
    api_key: 'api-key',
    label: 'label',
    base_url: 'base-url',
    wire_format: 'wire-format',
    allowed_models: 'models',
    default_model: 'default-model',
    priority: 'priority',
    max_inflight: 'max-inflight',
    proxy_url: 'proxy-url',
  },
  async run(given) {
    const body = {
      provider: given.provider,
      api_key: given['api-key'] === undefined ? undefined : await secret('api-key', given['api-key']),
      label: given.label,
      base_url: given['base-url'],
      wire_format: given['wire-format'],
      allowed_models: list(given.models),
      default_model: given['default-model'],
      priority: count('priority', given.priority),
      max_inflight: count('max-inflight', given['max-inflight']),
      proxy_url: given['proxy-url'],
    }
    const { made, taken } = await withControlPlane(given, async (plane) => {
      const made = await plane.call<Connection>('POST', '/api/providers', body)
      const taken =
        given.url !== undefined
          ? undefined
          : (await plane.gateway.plan()).find(({ action, id }) => action === 'conflict' && id === made.id)
      return { made, taken }
    })
    if (taken !== undefined)
      say.warn(
        `The configuration declares ${taken.section}.${taken.key} under the same name, so the next start will fail. Remove one of the two, or say \`adopt: true\` in the file.`,
      )
    if (given.json) return printJson(made)
    say.success(`Connection ${made.id} (${made.label}) is made. Try it: hookgate provider test ${made.id}`)
    console.log(made.id)
  },
})

export const listConnections = action({
  name: 'list',
  description: 'List connections, by priority.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const connections = await readControlPlane(given, ({ call }) => call<{ data: Connection[] }>('GET', '/api/providers'))
    if (given.json) return printJson(connections)
    const rows = connections.data.map((one) => [
      one.id,
      one.provider,
      one.label,
      one.has_api_key ? one.api_key_hint : null,
      one.state.status,
      one.allowed_models.length === 0 ? 'all' : one.allowed_models,
      one.priority,
      one.managed_by,
    ])
    console.log(
      table(
        ['ID', 'PROVIDER', 'LABEL', 'KEY', 'STATUS', 'MODELS', 'PRIORITY', 'FROM'],
        rows.map((row) => row.map(cell)),
        { active: 'green', disabled: 'dim', unreadable: 'red', auth_failed: 'red' },
      ),
    )
  },
})

export const rm = action({
  name: 'rm',
  description: 'Remove a connection. Running requests finish.',
  args: { ...byId, ...JSON_FLAG, ...PLANE },
  async run(given) {
    const connection = id(given.id)
    const answer = await withControlPlane(given, ({ call }) => call('DELETE', `/api/providers/${connection}`))
    if (given.json) printJson(answer)
    else say.success(`Connection ${connection} is removed.`)
  },
})

export const test = action({
  name: 'test',
  description: 'Send one small request over a connection, and say what came of it. May cost a fraction of a cent.',
  args: {
    ...byId,
    model: { type: 'string', description: 'Model to ask; default: what the connection names', valueHint: 'model' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { model: 'model' },
  async run(given) {
    const path = `/api/providers/${id(given.id)}/test`
    const verdict = await withControlPlane(given, ({ call }) => call<Verdict>('POST', path, { model: given.model }))
    const code = verdict.ok ? 0 : 1
    if (given.json) {
      printJson(verdict)
      return code
    }
    const { ok, model, latency_ms, error } = verdict
    console.log(table(['RESULT', 'MODEL', 'TIME'], [[ok ? 'ok' : (error?.kind ?? 'failed'), cell(model), `${latency_ms} ms`]]))
    if (error !== null) say.error(`${error.message} ${error.hint}`)
    return code
  },
})
