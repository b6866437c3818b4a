// Types of the services `virtualModels` and `routePreview`.

import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import type { Candidate, Plan, Target } from '../../core/types/request/context.ts'

export const STRATEGIES = [
  'failover',
  'load_balance',
  'weighted',
  'cost_optimized',
  'latency_based',
  'fusion',
  'pipeline',
] as const
export type Strategy = (typeof STRATEGIES)[number]

export interface VirtualTarget {
  /** As the target names it: an id or an alias. */
  readonly provider: string
  readonly model: string
  readonly weight: number
  /** null: any connection of the provider. */
  readonly connectionId: number | null
  readonly enabled: boolean
  /** Instruction of a pipeline step; null = the default text. */
  readonly instruction: string | null
  /** Request members that override the caller's for this target. */
  readonly params: Readonly<Record<string, unknown>> | null
}

export interface VirtualModelConfig {
  readonly sessionSticky: boolean
  readonly stickyTtlSecs: number
  /** 0 = the number of candidates. */
  readonly maxAttempts: number
  /** `provider/model`; null = the first target. */
  readonly judge: string | null
  readonly minPanel: number
  readonly stragglerGraceMs: number
  readonly panelTimeoutMs: number
  /** Fraction, 0 to 1. */
  readonly latencyBuffer: number
  /** False: requests to it get neither style instructions nor filters of tool output. */
  readonly tokenSaver: boolean
}

export interface VirtualModel {
  readonly id: number
  readonly orgId: number | null
  readonly name: string
  readonly strategy: Strategy
  readonly modality: 'text' | 'image'
  readonly enabled: boolean
  readonly position: number
  readonly targets: readonly VirtualTarget[]
  readonly config: VirtualModelConfig
  readonly description: string
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  /** Epoch ms. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Active models, also disabled ones, read from memory. */
export interface VirtualModelService {
  /** Sorted by position. */
  list(orgId: number | null): readonly VirtualModel[]
  get(orgId: number | null, id: number): VirtualModel | null
  /** Compared case-sensitively. */
  named(orgId: number | null, name: string): VirtualModel | null
}

/** Changes targets for other plugins, with the checks of the API. */
export interface VirtualTargetEdits {
  /**
   * Replaces the targets, also across replicas, when the stored ones still are `expected`.
   * @throws GatewayError 404 for an unknown virtual model, 409 when the file owns it or its targets are others, 400 for an invalid target.
   */
  replace(orgId: number | null, id: number, targets: readonly VirtualTarget[], expected: readonly VirtualTarget[]): Promise<void>
}

/** A virtual model that a plugin provides. */
export interface SystemModel {
  readonly name: string
  readonly strategy: Strategy
  readonly targets: readonly Target[]
  /** The message of the 400 while there is no target. */
  readonly unavailable: string
}

export interface SystemModelSource {
  readonly name: string
  /** Called for each request that names it: return the same object until it changes. */
  model(orgId: number | null): SystemModel
}

/** Virtual models of plugins. A virtual model of the organization with the same name takes precedence. */
export interface SystemModelService {
  /** Lists the model while it has targets. Returns the function that removes it. */
  offer(source: SystemModelSource): () => void
}

/** Looks where a request would go, without moving anything. */
export interface RoutePreviewService {
  /** Returns the account that would be asked first; null: none is available. A weighted draw counts as won by the heaviest target. */
  first(orgId: number | null, plan: Plan, request: Frozen<CanonicalRequest>): Candidate | null
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    virtualModels: VirtualModelService
    virtualTargetEdits: VirtualTargetEdits
    systemModels: SystemModelService
    routePreview: RoutePreviewService
  }
}
