// The parts of this plugin that its hooks and routes share.
import type { RequestContext } from '../../core/types/context.ts'
import type { ResponseItems } from '../../core/types/response-items.ts'
import type { Ids } from './ids.ts'
import type { Scope, TurnStore } from './store.ts'

export interface Parts {
  readonly ids: Ids
  readonly items: ResponseItems
  readonly store: TurnStore
  /** The callers whose rows this one may read. */
  readers(caller: Pick<RequestContext, 'principal'>): Scope
}
