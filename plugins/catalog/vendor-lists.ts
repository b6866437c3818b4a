// Renders the model lists for the SDKs of Anthropic and Google. There is one page, because they follow a cursor only when there is one.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { ModelEntry } from './entries.ts'

export const anthropicModel = z.strictObject({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.int().nullable(),
})

export const anthropicList = z.strictObject({
  data: z.array(anthropicModel),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
})

export const googleModel = z.strictObject({
  name: z.string().describe('Goes into the path of a call as it is: `models/<model string>`.'),
  displayName: z.string(),
  inputTokenLimit: z.int().optional(),
  outputTokenLimit: z.int().optional(),
  supportedGenerationMethods: z.array(z.string()),
})

export const googleList = z.strictObject({ models: z.array(googleModel) })

export function anthropicModelOf({ id, createdAt, facts }: ModelEntry): z.input<typeof anthropicModel> {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAt).toISOString(),
    max_input_tokens: facts.contextWindow ?? null,
    max_tokens: facts.maxOutputTokens ?? null,
  }
}

export function anthropicListOf(entries: readonly ModelEntry[]): z.input<typeof anthropicList> {
  return {
    data: entries.map(anthropicModelOf),
    has_more: false,
    first_id: entries[0]?.id ?? null,
    last_id: entries.at(-1)?.id ?? null,
  }
}

export function googleModelOf({ id, facts }: ModelEntry): z.input<typeof googleModel> {
  const { contextWindow, maxOutputTokens, mode } = facts
  return {
    name: `models/${id}`,
    displayName: id,
    ...(contextWindow ? { inputTokenLimit: contextWindow } : {}),
    ...(maxOutputTokens ? { outputTokenLimit: maxOutputTokens } : {}),
    supportedGenerationMethods: mode === 'chat' ? ['generateContent', 'streamGenerateContent'] : [],
  }
}

export function googleListOf(entries: readonly ModelEntry[]): z.input<typeof googleList> {
  return { models: entries.map(googleModelOf) }
}

// The providers' own model lists: fetched on demand, kept for an hour, and for a day while a provider does not answer. A slow provider
// delays no caller: its list appears at the next request.
const FRESH_MS = 3_600_000
const STALE_MS = 24 * FRESH_MS
/** A provider that failed is not called at every look-up. */
const RETRY_MS = 60_000
const WAIT_MS = 5000
const AT_ONCE = 4

interface Known {
  /** The connection at the time of the call; a changed one is called again. */
  connection: Connection
  /** Empty: the provider has no such list. */
  models: readonly string[]
  /** Monotonic ms at which `models` was fetched. */
  at: number
  askAgainAt: number
}

interface LiveLists {
  /** Returns lists by connection id; connections without a list are left out. Waits up to 5 s. */
  of(connections: readonly Connection[]): Promise<ReadonlyMap<string, readonly string[]>>
}

export function liveLists(gateway: PluginGateway): LiveLists {
  const { clock } = gateway
  const vendor = gateway.optional('vendorModels')
  const known = new Map<string, Known>()
  const asking = new Map<Connection, Promise<void>>()

  async function ask(connection: Connection): Promise<void> {
    const before = known.get(connection.id)
    // A list from another address may belong to another provider.
    const same = before !== undefined && before.connection.baseUrl === connection.baseUrl
    let entry: Known
    try {
      const models = (await vendor()?.list(connection)) ?? []
      const now = clock.monotonic()
      entry = { connection, models, at: now, askAgainAt: now + FRESH_MS }
    } catch {
      const now = clock.monotonic()
      const kept = same ? { models: before.models, at: before.at } : { models: [], at: now }
      entry = { connection, ...kept, askAgainAt: now + RETRY_MS }
    }
    known.set(connection.id, entry)
  }

  const asked = (connection: Connection): Promise<void> => {
    const running = asking.get(connection) ?? ask(connection).finally(() => asking.delete(connection))
    asking.set(connection, running)
    return running
  }

  return {
    async of(connections) {
      const ids = new Set(
        gateway
          .use('accounts')
          .list()
          .map(({ connection }) => connection.id),
      )
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
      const due = connections.filter((connection) => {
        const entry = known.get(connection.id)
        return entry === undefined || entry.connection !== connection || entry.askAgainAt <= clock.monotonic()
      })
      const worker = async (): Promise<void> => {
        for (let next = due.shift(); next !== undefined; next = due.shift()) await asked(next)
      }
      if (due.length > 0) await within(Promise.all(Array.from({ length: AT_ONCE }, worker)))
      const oldest = clock.monotonic() - STALE_MS
      return new Map(
        connections.flatMap(({ id, baseUrl }) => {
          const entry = known.get(id)
          const useful = entry !== undefined && entry.connection.baseUrl === baseUrl && entry.at >= oldest
          return useful && entry.models.length > 0 ? [[id, entry.models] as const] : []
        }),
      )
    },
  }

  function within(work: Promise<unknown>): Promise<unknown> {
    const waited = new Promise<void>((resolve) => {
      const timer = clock.timer(WAIT_MS, resolve)
      void work.finally(() => timer.cancel())
    })
    return Promise.race([work, waited])
  }
}
