// Types of the services for model facts and model lists. An absent member means unknown, never zero or false.
import type { CAPABILITIES, MODES } from '../../core/models/model-words.ts'
import type { ModelPrice } from '../../core/types/ports/prices.ts'

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

/**
 * Returns additional or better facts about a model; null = none. `price` replaces the whole price. `orgId`: the organization whose
 * connections serve it; null: the gateway's own.
 */
export type FactsLayer = (provider: string, model: string, orgId: number | null) => Partial<ModelFacts> | null

export interface ModelFactsService {
  /**
   * Returns facts by provider id and bare model id. Synchronous and cached; prices are a few minutes old at most.
   * @param orgId the organization whose connections serve the model; null, the default: the gateway's own.
   */
  facts(provider: string, model: string, orgId?: number | null): ModelFacts
  /** Returns facts without the layers; looked up each time. */
  compiledIn(provider: string, model: string): ModelFacts
  /**
   * Adds a layer over the earlier ones: a rate card, overrides. Returns a function that removes it, for the plugin's teardown.
   * @param differs returns true for an organization with facts of its own; absent: all have the same.
   */
  layer(layer: FactsLayer, differs?: (orgId: number) => boolean): () => void
  /** Drops cached facts, because a layer has changed. */
  refresh(): void
}

/** A model that consists of others, as lists show it, with the facts of its targets. */
export interface VirtualEntry {
  id: string
  /** Epoch ms. */
  createdAt: number
  modality: 'text' | 'image'
  targets: readonly { provider: string; model: string }[]
}

/** Models of enabled connections whose names are known. */
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
  /** True: lists show only virtual models. */
  readonly only?: boolean
}

export interface ModelCatalogueService {
  /** Adds virtual models to every list except those of /v1beta. Returns a function that removes them. */
  virtual(source: VirtualSource): () => void
  /** Returns the same object until connections change. */
  offered(orgId: number | null): OfferedModels
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    modelFacts: ModelFactsService
    modelCatalogue: ModelCatalogueService
  }
}
