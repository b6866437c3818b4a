// Types of the service `shadow`: scores of cheaper models against the models that answered, and requests that are never sampled.
import type { RequestContext } from '../../core/types/request/context.ts'

/** How a sample was scored. `token_f1` compares words only: its scores say little. */
export const METHODS = ['exact', 'json', 'tool_call', 'judge', 'embedding', 'token_f1'] as const
export type Method = (typeof METHODS)[number]

export interface Score {
  /** Number of scored samples. */
  readonly samples: number
  /** Mean, 0 to 1; 1: the cheaper model would have done. */
  readonly score: number
}

/** A model that answered callers, and the cheaper one that was asked the same. Both are `provider/model`. */
export interface PairScore extends Score {
  readonly served: string
  readonly challenger: string
  /** Without the samples of which only words were compared; null: there are no others. */
  readonly compared: Score | null
}

/** Half open, epoch ms, by the start of the sampled request. */
export interface ScoreFilter {
  readonly orgId: number | null
  readonly since: number
  readonly until: number
}

export interface ShadowService {
  /** Call it before the answer is sent: the request is not sampled. */
  omit(ctx: RequestContext): void
  /** Returns the scores of each challenger, by `provider/model`. */
  scores(filter: ScoreFilter): Promise<ReadonlyMap<string, Score>>
  pairs(filter: ScoreFilter): Promise<readonly PairScore[]>
  /** Returns the mean score of a challenger over all kept samples, at most a minute old; null: none was scored. Reads memory. */
  known(orgId: number | null, provider: string, model: string): Score | null
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    shadow: ShadowService
  }
}
