// The control plane's model lists: an organization's models, and the possible models of each of its connections.
import { z } from 'zod'
import { MODES } from '../../core/models/model-words.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Entries, EntrySources } from './entries.ts'
import { modeOf } from './mode.ts'
import { capabilityFlags, factsOf, groupInfoOf, groupList, modelList, modelObjectOf } from './model-object.ts'
import { liveLists } from './vendor-lists.ts'

const suggestion = z.strictObject({
  connection_id: z.int(),
  provider: z.string(),
  model: z.string().describe('The model string: `provider/model`.'),
  context_window: z.int().optional(),
  max_output_tokens: z.int().optional(),
  mode: z.enum(MODES),
  capabilities: capabilityFlags,
  source: z
    .enum(['live', 'catalog', 'connection'])
    .describe('`live`: the provider lists it, as of the last hour. `connection`: the connection names it itself.'),
  allowed: z.boolean().describe('By the connection’s `allowed_models`.'),
})

const filter = z.strictObject({
  connection_id: z.coerce.number().int().positive().optional(),
  provider: z.string().max(64).optional(),
  q: z.string().max(256).optional().describe('Part of the model string, any case.'),
})

export function catalogRoutes(gateway: PluginGateway, entries: Entries, { accounts, offers, facts }: EntrySources): void {
  const { providerId } = gateway.use('configuration')
  const live = liveLists(gateway)

  gateway.api({
    method: 'GET',
    path: '/api/models',
    summary: 'Models that can be called, as GET /v1/models shows them to a key without an allow-list.',
    role: 'member',
    response: modelList,
    handler: ({ orgId }) => ({ object: 'list' as const, data: entries.all(orgId).map(modelObjectOf) }),
  })

  gateway.api({
    method: 'GET',
    path: '/api/models/info',
    summary: 'Window, ceiling, mode and `supports_*` flags of each model.',
    role: 'member',
    response: groupList,
    handler: ({ orgId }) => ({ data: entries.all(orgId).map(groupInfoOf) }),
  })

  gateway.api({
    method: 'GET',
    path: '/api/model-catalog',
    summary:
      'Lists the models of each connection, allowed or not: those that its provider lists, or else those that the gateway knows.',
    role: 'member',
    query: filter,
    response: z.strictObject({ data: z.array(suggestion) }),
    async handler({ orgId, query }) {
      const provider = query.provider === undefined ? null : providerId(query.provider)
      const wanted = accounts
        .list()
        .filter((account) => account.orgId === orgId)
        .filter(({ connection }) => query.connection_id === undefined || connection.id === String(query.connection_id))
        .filter(({ connection }) => provider === null || connection.provider === provider)
      const part = query.q?.toLowerCase() ?? ''
      const listed = await live.of(wanted.flatMap(({ connection, enabled }) => (enabled ? [connection] : [])))
      const data = wanted.flatMap(({ connection }) =>
        offers.of(connection, listed.get(connection.id)).map(({ model, allowed, source }) => {
          const known = facts.facts(connection.provider, model, orgId)
          return {
            connection_id: Number(connection.id),
            provider: connection.provider,
            model: `${connection.provider}/${model}`,
            ...factsOf(known),
            mode: known.mode ?? modeOf(model),
            capabilities: known.capabilities,
            source,
            allowed,
          }
        }),
      )
      return { data: data.filter(({ model }) => model.toLowerCase().includes(part)) }
    },
  })
}
