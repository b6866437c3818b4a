// The parts of this plugin that its hooks and routes share.
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { ResponseItems } from '../../core/types/request/response-items.ts'
import type { EventLog } from './background/event-log.ts'
import type { RunStore } from './background/run-store.ts'
import type { ConversationStore } from './conversations/conversation-store.ts'
import type { Ids } from './ids.ts'
import type { Scope, TurnStore } from './store.ts'

export interface Parts {
  readonly ids: Ids
  readonly items: ResponseItems
  readonly store: TurnStore
  readonly runs: RunStore
  readonly events: EventLog
  readonly conversations: ConversationStore
  /** How long rows are kept, ms. */
  readonly ttlMs: number
  /** Returns a response as it is now: stored, or a background run. null: none that these callers may read. */
  answerOf(scope: Scope, token: string): Promise<JsonObject | null>
  /** The callers whose rows this one may read. */
  readers(caller: Pick<RequestContext, 'principal'>): Scope
}
