// Model facts, and the lists that show them. An absent member means unknown, never zero or false.
import type { CAPABILITIES, MODES } from '../../core/models/model-words.ts'
import type { ModelPrice } from '../../core/types/prices.ts'

export type ModelMode = (typeof MODES)[number]
export type Capability = (typeof CAPABILITIES)[number]

export interface ModelFacts {
  /** Tokens. */
  contextWindow?: number
  maxOutputTokens?: number
  mode?: ModelMode
  capabilities: Readonly<Partial<Record<Capability, boolean>>>
  price?: Readonly<ModelPrice>
}

/** Says more, or better, of a model; null = nothing. `price` replaces the whole price. */
export type FactsLayer = (provider: string, model: string) => Partial<ModelFacts> | null

export interface ModelFactsService {
  /** By provider id and bare model id. Synchronous and remembered; prices are as of the last minutes. */
  facts(provider: string, model: string): ModelFacts
  /** Without the layers; looked up each time. */
  compiledIn(provider: string, model: string): ModelFacts
  /** Over what the layers before say: a rate card, overrides. Returns what takes it back, for the plugin's teardown. */
  layer(layer: FactsLayer): () => void
  /** Drops cached facts, because a layer has changed. */
  refresh(): void
}

/** A model that is made of others, as lists show it: with what its targets have together. */
export interface VirtualEntry {
  id: string
  /** Epoch ms. */
  createdAt: number
  modality: 'text' | 'image'
  targets: readonly { provider: string; model: string }[]
}

/** Models of enabled connections, as far as their names are known. */
export interface OfferedModels {
  /** By provider id and bare model id, once each. */
  readonly all: readonly { readonly provider: string; readonly model: string; readonly isDefault: boolean }[]
  /** By `provider/model`. */
  has(id: string): boolean
  /** Ids of the providers that offer a bare model id. */
  providersOf(model: string): readonly string[]
}

export interface VirtualSource {
  list(orgId: number | null): readonly VirtualEntry[]
  /** True: lists show virtual models and nothing else. */
  readonly only?: boolean
}

export interface ModelCatalogueService {
  /** Adds virtual models to every list but those of /v1beta. Returns what takes it back. */
  virtual(source: VirtualSource): () => void
  /** The same object until connections change. */
  offered(orgId: number | null): OfferedModels
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    modelFacts: ModelFactsService
    modelCatalogue: ModelCatalogueService
  }
}
