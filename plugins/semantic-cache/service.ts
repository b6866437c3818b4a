// Type of the service `embeddings`: vectors of short texts, from the model that GATEWAY_SEMANTIC_CACHE_EMBED_MODEL names.
import type { Embedded, EmbedModel } from './embedder.ts'

export interface EmbeddingService {
  /** The model that embeds texts of an organization; null: none is configured. */
  model(orgId: number | null): EmbedModel | null
  /** After a failure there are no vectors. Billed to the organization under `source`. */
  embed(orgId: number | null, source: string, texts: readonly string[]): Promise<Embedded>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    embeddings: EmbeddingService
  }
}
