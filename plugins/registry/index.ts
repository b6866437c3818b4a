// GET /api/registry: lists the known providers, and the fields that a connection to each needs.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Provider } from '../../core/types/ports/provider.ts'

const DIALECTS = ['chat', 'messages', 'responses', 'generate_content'] as const

const capabilities = z.strictObject({
  pdf_input: z.literal(true).optional(),
  prompt_cache_marks: z.literal(true).optional().describe('`cache_control` marks are understood.'),
  reasoning_replay: z.literal(true).optional().describe('Takes back the reasoning of earlier turns.'),
  top_k: z.literal(true).optional(),
})

const registryEntry = z.strictObject({
  id: z.string(),
  aliases: z.array(z.string()),
  name: z.string(),
  docs_url: z.string().nullable(),
  base_url: z.string().nullable().describe('Null: every deployment has its own, to be given as `base_url`.'),
  wire_formats: z.array(z.enum(DIALECTS)).describe('The first is preferred.'),
  endpoints: z.array(z.string()).describe('The operations that it serves here.'),
  auth: z.array(z.enum(['api_key', 'none'])),
  needs_key: z.boolean(),
  key_variable: z.string().nullable().describe('The usual environment variable, for `secret.env(…)`.'),
  supports_usage_api: z.boolean().describe('Its usage API is asked for quotas, see `GET /api/quota`.'),
  oauth_flow: z.enum(['pkce', 'device', 'both']).nullable().describe('Null: its accounts cannot be signed in to here.'),
  client_version: z
    .string()
    .nullable()
    .describe('The version that requests name in a header of the vendor; null: they name none.'),
  capabilities: capabilities.describe('Known capabilities beyond the wire format; absent means unknown.'),
  connections: z.int().describe('Of the caller’s organization, disabled ones too.'),
})

export const registry = definePlugin({
  name: 'registry',
  requires: ['accounts', 'configuration'],
  setup(gateway) {
    const accounts = gateway.use('accounts')
    const { providers } = gateway.use('configuration')
    const quota = gateway.optional('quota')
    const signIns = gateway.optional('oauthAccounts')
    gateway.api({
      method: 'GET',
      path: '/api/registry',
      summary: 'Providers that need no more than a key, or an address of your own.',
      role: 'member',
      response: z.strictObject({ data: z.array(registryEntry) }),
      handler({ orgId }) {
        const mine = accounts.list().filter((account) => account.orgId === orgId)
        const count = (id: string) => mine.filter(({ connection }) => connection.provider === id).length
        return {
          data: providers.map((provider) => ({
            ...entryOf(provider),
            supports_usage_api: quota()?.hasDriver(provider.id) ?? false,
            oauth_flow: signIns()?.flowOf(provider.id) ?? null,
            connections: count(provider.id),
          })),
        }
      },
    })
  },
})

function entryOf(provider: Provider): Omit<z.input<typeof registryEntry>, 'supports_usage_api' | 'connections' | 'oauth_flow'> {
  const { id, aliases, name = id, docsUrl = null, baseUrl, dialects, needsKey, quirks, operations = {} } = provider
  const formats = DIALECTS.filter((dialect) => dialects[dialect] !== undefined).sort(byPreference(dialects))
  const known = {
    pdf_input: quirks.pdf === true,
    prompt_cache_marks: quirks.acceptsCacheControl === true,
    reasoning_replay: quirks.replayReasoning !== undefined,
    top_k: quirks.topK === true,
  }
  return {
    id,
    aliases: [...aliases],
    name,
    docs_url: docsUrl,
    base_url: baseUrl,
    wire_formats: formats,
    endpoints: [
      ...(Object.keys(dialects).length > 0 ? ['chat'] : []),
      ...(formats.includes('messages') ? ['count_tokens'] : []),
      ...Object.keys(operations),
    ],
    auth: needsKey ? ['api_key'] : ['api_key', 'none'],
    needs_key: needsKey,
    key_variable: needsKey ? `${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY` : null,
    client_version: provider.clientVersion?.version ?? null,
    capabilities: Object.fromEntries(Object.entries(known).filter(([, value]) => value)) as z.input<typeof capabilities>,
  }
}

/** The first dialect of a provider is preferred. */
function byPreference(dialects: Provider['dialects']): (a: string, b: string) => number {
  const order = Object.keys(dialects)
  return (a, b) => order.indexOf(a) - order.indexOf(b)
}

export default registry
