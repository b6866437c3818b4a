// POST /api/providers/:id/test: sends one small request over this connection only, through the normal pipeline. It works for every
// provider, and tests key, address, proxy and wire format together. It is booked as an internal call with the source `test`; unlike a
// model list it may cost a fraction of a cent.
import { z } from 'zod'
import { isQuota } from '../../core/errors/classify.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { idParams } from '../../core/http/schemas.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { CanonicalRequest } from '../../core/types/request/canonical.ts'
import type { Accounts } from './accounts.ts'
import type { OpenConnection } from './opened.ts'

const TIMEOUT_MS = 30_000

const testBody = z.strictObject({
  model: z.string().min(1, 'must not be empty').max(256).optional().describe('Bare id; default: what the connection names.'),
})

// The diagnosis of a failed test request: a kind from a closed list, the upstream's own message, and a hint.
const HINTS = {
  credentials: 'The provider refuses the key. Check `api_key`: is it complete, of this provider, and not revoked?',
  permission: 'The key is known, and may not do this. Look at its permissions, project or region at the provider.',
  quota: 'The account has no credit or quota left. Look at the billing page of the provider.',
  rate_limit: 'The key works; the account is at its rate limit. Try again later.',
  model: 'The provider does not know this model, or the account has no access to it. Name another one as `model`.',
  request: 'The provider refuses the request itself. Check `base_url`, `wire_format` and the model.',
  upstream: 'The provider failed. Try again later, or look at its status page.',
  connect: 'No server answers at this address. Check `base_url`, and whether this machine may reach it.',
  dns: 'The host name does not resolve. Check `base_url`.',
  tls: 'The TLS handshake failed. Check the scheme and port of `base_url`, and the certificate of the server.',
  proxy: 'The proxy failed or refused. Check `proxy_url` and GATEWAY_OUTBOUND_PROXY.',
  reset: 'The connection was cut. Try again; if it stays so, check `base_url` and what is between.',
  timeout: 'There was no answer in time. Check `base_url`, `proxy_url` and the firewall.',
  protocol: 'What answers does not speak this wire format. Check `base_url` and `wire_format`.',
  disabled: 'Set `enabled` to true, then test again.',
  unreadable: 'What was sealed does not open with this master key. Enter the key and the other secrets again.',
  unavailable: 'The gateway itself keeps this connection out for now; its `state` says why.',
} as const

type DiagnosisKind = keyof typeof HINTS

const diagnosis = z.strictObject({
  ok: z.boolean(),
  status: z.int().nullable().describe('Of the provider’s answer; null when there was none.'),
  latency_ms: z.int(),
  model: z.string().nullable(),
  error: z
    .strictObject({
      kind: z.enum(Object.keys(HINTS) as [DiagnosisKind, ...DiagnosisKind[]]),
      message: z.string(),
      hint: z.string(),
    })
    .nullable(),
})

function failure(kind: DiagnosisKind, message: string) {
  return { kind, message, hint: HINTS[kind] }
}

/** The provider's own message. Data-plane callers see less of it. */
function refusalOf(error: GatewayError): GatewayError {
  const { cause } = error
  return GatewayError.is(cause) && cause.upstream !== null ? refusalOf(cause) : error
}

function failureOf(error: GatewayError) {
  return failure(kindOf(error), error.message)
}

function kindOf(error: GatewayError): DiagnosisKind {
  const { upstream } = error
  if (error.skip !== null || upstream === null) return error.code === 'upstream_timeout' ? 'timeout' : 'unavailable'
  if (upstream.status === 0) return upstream.kind === 'status' || upstream.kind === 'stream' ? 'protocol' : upstream.kind
  if (upstream.kind === 'protocol') return 'protocol'
  return kindOfStatus(upstream.status, error)
}

/** Some vendors answer a wrong key with 400. */
const WRONG_KEY = /api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|expired)|(?:invalid|incorrect).{0,10}api[ _-]?key/i

function kindOfStatus(status: number, error: GatewayError): DiagnosisKind {
  if (status === 401 || (status === 400 && WRONG_KEY.test(error.message))) return 'credentials'
  if (status === 402 || isQuota(error)) return 'quota'
  if (status === 403) return 'permission'
  if (status === 404) return 'model'
  if (status === 408) return 'timeout'
  if (status === 429) return 'rate_limit'
  return status >= 500 ? 'upstream' : 'request'
}

export function probeRoute(
  gateway: PluginGateway,
  find: (orgId: number | null, id: number) => OpenConnection,
  accounts: Accounts,
): void {
  gateway.api({
    method: 'POST',
    path: '/api/providers/:id/test',
    summary: 'Sends one small request over this connection and says what came of it.',
    role: 'manage',
    params: idParams,
    body: testBody,
    response: diagnosis,
    audit: 'provider.test',
    async handler({ params, body, orgId }) {
      const { connection, enabled, unreadable } = find(orgId, params.id)
      const untried = { ok: false, status: null, latency_ms: 0, model: body.model ?? null }
      if (unreadable === true) return { ...untried, error: failure('unreadable', 'The stored secrets cannot be opened.') }
      if (!enabled) return { ...untried, error: failure('disabled', 'The connection is disabled.') }
      return probe(gateway, connection, modelFor(connection, body.model, accounts), orgId)
    },
  })
}

/** @throws GatewayError 400 when no model is given, or the connection does not serve it. */
function modelFor(connection: Connection, asked: string | undefined, accounts: Accounts): string {
  const { allowedModels, defaultModel } = connection
  const allowed = (model: string) => allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))
  if (asked !== undefined) {
    if (allowed(asked)) return asked
    throw GatewayError.invalid('model', `\`model\`: \`${asked}\` is not among the \`allowed_models\` of this connection.`)
  }
  const model = defaultModel ?? allowedModels.find((glob) => !/[*?]/.test(glob)) ?? accounts.testModelOf(connection)
  if (model !== null && allowed(model)) return model
  throw GatewayError.invalid('model', '`model`: name a model to test with, or give the connection a `default_model`.')
}

async function probe(gateway: PluginGateway, connection: Connection, model: string, orgId: number | null) {
  const { clock } = gateway
  const ending = new AbortController()
  const timer = clock.timer(TIMEOUT_MS, () => ending.abort(), true)
  const started = clock.monotonic()
  const took = () => Math.round(clock.monotonic() - started)
  const target = { provider: connection.provider, model, connectionId: connection.id, weight: 1 }
  try {
    await gateway.invoke(smallRequest(target), { operation: 'chat', source: 'test', target, orgId, signal: ending.signal })
    return { ok: true, status: 200, latency_ms: took(), model, error: null }
  } catch (thrown) {
    const error = refusalOf(GatewayError.from(thrown))
    const late = ending.signal.aborted ? failure('timeout', `No answer within ${TIMEOUT_MS / 1000} s.`) : null
    return { ok: false, status: error.upstream?.status || null, latency_ms: took(), model, error: late ?? failureOf(error) }
  } finally {
    timer.cancel()
  }
}

/** 16 tokens: the minimum that every provider accepts. */
function smallRequest({ provider, model }: { provider: string; model: string }): CanonicalRequest {
  return {
    model: `${provider}/${model}`,
    stream: false,
    source: 'chat',
    system: [],
    messages: [{ role: 'user', parts: [{ t: 'text', text: 'Say OK.' }] }],
    tools: [],
    maxTokens: 16,
    sampling: {},
    headers: {},
    ext: {},
  }
}
