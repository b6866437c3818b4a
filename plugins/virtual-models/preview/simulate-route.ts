// POST /api/simulate: `hookgate simulate` over the control plane, optionally with a draft of a virtual model.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { SimulationInput } from '../../../core/types/ports/simulation.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import { createBody, fieldsOf, NO_FIELDS } from '../api-fields.ts'
import type { CheckTargets } from '../check-targets.ts'
import type { VirtualModelFields } from '../store.ts'

const MAX_REQUESTS = 10_000
const RETRY_MS = 5000

const simulateBody = z.strictObject({
  script: z
    .union([z.string(), z.array(z.record(z.string(), z.unknown())).max(MAX_REQUESTS)], 'must be JSON lines, or a list of objects')
    .describe('As for `hookgate simulate`.'),
  draft: createBody.optional().describe('A virtual model as for POST /api/virtual-models; it replaces the one with its name.'),
})

export function simulateRoute(gateway: PluginGateway, checked: CheckTargets): void {
  const simulator = gateway.optional('simulator')
  let running = false

  gateway.api({
    method: 'POST',
    path: '/api/simulate',
    summary:
      'Runs a script against the configuration file on simulated time; answers with JSON lines. It sends and stores no data.',
    role: 'manage',
    body: simulateBody,
    audit: false,
    async handler({ body: { script, draft }, orgId }) {
      if (orgId !== null) throw GatewayError.forbidden('The configuration file is for the operators of the whole gateway.')
      const simulate = simulator()
      if (simulate === undefined)
        throw GatewayError.unavailable('This gateway was not loaded from a configuration file. Use `hookgate simulate`.')
      const virtualModel = draft === undefined ? null : declared(draft)
      if (running) throw GatewayError.rateLimited('A simulation is running. Try again when it has ended.', RETRY_MS)
      running = true
      try {
        const text = typeof script === 'string' ? script : script.map((line) => JSON.stringify(line)).join('\n')
        const outcome = await simulate({ script: text, maxRequests: MAX_REQUESTS, virtualModel })
        if ('text' in outcome)
          return new Response(`${outcome.text}\n`, { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } })
        const { fault, message } = outcome
        if (fault === 'time') throw GatewayError.invalid('script', `${message} Send fewer requests.`, 'simulation_too_long')
        throw GatewayError.invalid(fault === 'script' ? 'script' : null, message)
      } finally {
        running = false
      }
    },
  })

  function declared(draft: z.output<typeof createBody>): SimulationInput['virtualModel'] {
    try {
      return declarationOf(checked(fieldsOf(draft, NO_FIELDS), null))
    } catch (error) {
      if (!GatewayError.is(error) || error.param === null) throw error
      throw error.with({ param: `draft.${error.param}` })
    }
  }
}

/** @throws GatewayError 400 for a target that names a connection by its id. */
function declarationOf({ name, position: _, ...fields }: VirtualModelFields): SimulationInput['virtualModel'] {
  const bound = fields.targets.findIndex(({ connectionId }) => connectionId !== null)
  if (bound !== -1)
    throw GatewayError.invalid(
      `targets.${bound}.connection_id`,
      'In a simulation the connections of the file have other ids. Leave `connection_id` out.',
    )
  return { name, declaration: fields as unknown as JsonObject }
}
