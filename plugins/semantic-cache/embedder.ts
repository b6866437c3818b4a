// Fetches embeddings of short texts from an upstream in OpenAI's format. After a failure there is no vector; a request never fails by it.
import { z } from 'zod'
import { estimateText, noUsage } from '../../core/models/token-estimate.ts'
import type { ConnectionService, DirectCalls } from '../../core/services.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Usage } from '../../core/types/request/answer.ts'

export interface EmbedderSources {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  readonly calls: Pick<DirectCalls, 'post' | 'book'>
  readonly connections: Pick<ConnectionService, 'list'>
  /** Whether the account must not be called for the model now. */
  resting(connection: Connection, model: string): boolean
  /** Takes an in-flight slot; the result frees it. @throws GatewayError when the account has no room */
  slot(connection: Connection, source: string): Promise<() => void>
}

// The embedding model: a concrete model of an external provider. A virtual one could depend on the answer that it should find, so it is
// refused and the cache stays off.
export interface EmbedModel {
  readonly name: string
  /** Provider id or alias. */
  readonly provider: string
  readonly model: string
}

interface Known {
  /** Names of GATEWAY_ROUTES and of the free pool. */
  readonly internalNames: ReadonlySet<string>
  knowsProvider(provider: string): boolean
}

/** Returns the model, or the reason why it is invalid. */
export function embedModelOf(name: string | null, { internalNames, knowsProvider }: Known): EmbedModel | { reason: string } {
  if (name === null || name === '') return { reason: 'no embed model is set' }
  const slash = name.indexOf('/')
  if (name === 'auto' || name.startsWith('auto/')) return { reason: '`auto` is no external model' }
  if (name.startsWith('gateway/') || internalNames.has(name)) return { reason: `\`${name}\` is a model of this gateway` }
  if (slash <= 0 || slash === name.length - 1) return { reason: `\`${name}\` names no provider: write \`provider/model\`` }
  const provider = name.slice(0, slash)
  if (!knowsProvider(provider)) return { reason: `no connection is of the provider \`${provider}\`` }
  return { name, provider, model: name.slice(slash + 1) }
}

/** Texts of one organization to embed, and the source under which the call is in the books. */
export interface EmbedCall {
  readonly orgId: number | null
  readonly source: string
  readonly by: EmbedModel
  readonly texts: readonly string[]
}

export interface Embedded {
  /** One vector of length 1 per text; null when there are none. */
  readonly vectors: readonly Float32Array[] | null
  /** Nano-USD as booked; 0 when no price is known. */
  readonly costNano: number
}

/** The call is billed to the organization, not to a key. */
export type Embedder = (call: EmbedCall) => Promise<Embedded>

const TIMEOUT_MS = 2000
const MAX_DIMENSIONS = 8192

const answer = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()).min(1).max(MAX_DIMENSIONS) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .optional()
    .catch(undefined),
})

export function embedder({ clock, log, calls, connections, resting, slot }: EmbedderSources): Embedder {
  return async ({ orgId, source, by: { provider, model }, texts }) => {
    const asked = connections.list(provider, model, { principal: { ...NO_KEY, orgId } })
    const account = await withRoom(
      asked.filter((one) => !resting(one, model)),
      source,
    )
    let costNano = 0
    if (account === null) return { vectors: null, costNano }
    const { connection, release } = account
    const startedAt = clock.now()
    try {
      const body = { model, input: texts, encoding_format: 'float' }
      const { status, body: bytes } = await calls.post(connection, '/embeddings', body, TIMEOUT_MS)
      if (status !== 200) throw new Error(`The upstream answered ${status}.`)
      const { data, usage } = answer.parse(JSON.parse(decodeUtf8(bytes)))
      const booked = calls.book({
        connection,
        model,
        operation: 'embeddings',
        source,
        orgId,
        status,
        startedAt,
        usage: usageOf(usage?.prompt_tokens, texts),
      })
      costNano = booked.costNano ?? 0
      const vectors = inOrder(data).map(normalised)
      if (vectors.length !== texts.length || vectors.includes(null)) throw new Error('The upstream sent other vectors.')
      return { vectors: vectors as Float32Array[], costNano }
    } catch (error) {
      log.warn('semantic_cache.embedding_failed', {
        model,
        error: error instanceof z.ZodError ? 'not understood' : String(error),
      })
      return { vectors: null, costNano }
    } finally {
      release()
    }
  }

  /** Returns the first account with a free slot, which is taken; null: all are full. */
  async function withRoom(list: readonly Connection[], source: string) {
    for (const connection of list) {
      try {
        return { connection, release: await slot(connection, source) }
      } catch {
        // Another account may have room.
      }
    }
    return null
  }
}

const NO_KEY = { keyId: null, label: null, allowedModels: null }

function inOrder(data: z.output<typeof answer>['data']): number[][] {
  return [...data].sort((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ embedding }) => embedding)
}

/** Returns null for a vector without a direction. */
function normalised(values: readonly number[]): Float32Array | null {
  const length = Math.hypot(...values)
  return length > 0 && Number.isFinite(length) ? Float32Array.from(values, (value) => value / length) : null
}

function usageOf(reported: number | undefined, texts: readonly string[]): Usage {
  const inputTotal = reported ?? Math.ceil(texts.reduce((sum, text) => sum + estimateText(text), 0))
  return { ...noUsage(), inputTotal, total: inputTotal, estimated: reported === undefined }
}
