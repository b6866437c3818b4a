// The stored form of one turn.
import type { JsonObject, Message } from '../../core/types/request/canonical.ts'

/** One turn of a conversation. */
export interface Turn {
  /** The request's own input, as guardrails left it. */
  readonly messages: readonly Message[]
  /** The items of the answer with the ids that the caller got. */
  readonly output: readonly JsonObject[]
  /** Token of the conversation that the turn belongs to: the conversation has the turns before it. */
  readonly conversation?: string
  /** True: its input has a compaction item, so earlier turns are not sent. */
  readonly begins?: boolean
  /** Set when the upstream stored the answer, too. */
  readonly native?: Native
}

/** An answer at the upstream that stored it. */
export interface Native {
  /** Id of the connection: only its account knows the upstream's ids. */
  readonly connection: string
  /** The upstream's id of the response. */
  readonly response: string
  /** The upstream's ids of the items, by the ids that the caller got. */
  readonly items: Readonly<Record<string, string>>
}

/** A response without its output, which is in the turn. */
export type Head = JsonObject
