// POST /api/providers/:id/test: one small request over this connection and no other, on the way that every request takes.
// It works for whatever the gateway can talk to, sees the key, the address, the proxy and the wire format together, and is
// booked as an internal call of source `test`: unlike a list of models it may cost a fraction of a cent.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { idParams } from '../../core/http/schemas.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { CanonicalRequest } from '../../core/types/canonical.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { Connection } from '../../core/types/provider.ts'
import type { Accounts } from './accounts.ts'
import { diagnosis, failure, failureOf, refusalOf } from './diagnosis.ts'
import type { OpenConnection } from './opened.ts'

const TIMEOUT_MS = 30_000

const testBody = z.strictObject({
  model: z.string().min(1, 'must not be empty').max(256).optional().describe('Bare id; default: what the connection names.'),
})

export function probeRoute(
  gateway: PluginGateway,
  find: (orgId: number | null, id: number) => OpenConnection,
  accounts: Accounts,
): void {
  gateway.api({
    method: 'POST',
    path: '/api/providers/:id/test',
    summary: 'Sends one small request over this connection and says what came of it.',
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

/** @throws GatewayError 400: no model is given, or the connection does not serve it. */
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

/** 16 tokens: the least that every provider takes. */
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
