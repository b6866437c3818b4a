// Types of the service that writes answers of earlier requests again, as their callers got them.
import type { CanonicalResponse } from './answer.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message } from './canonical.ts'

/** An answer that a plugin stored. Its dialect is responses, the only one that reads answers again. */
export interface StoredAnswer {
  /** For the members that the answer echoes. Its `model` is the name that the caller sent. */
  readonly request: Frozen<CanonicalRequest>
  /** With the ids that the caller got. */
  readonly response: Frozen<CanonicalResponse>
  /** The id of the response that it continues; null: a conversation began with it. */
  readonly previous: string | null
  /** The family of the model that answered: its reasoning secrets belong to it. */
  readonly family: string
  /** Epoch ms. */
  readonly completedAt: number
}

export interface StoredAnswers {
  /** Returns the JSON text of the whole answer. */
  whole(answer: StoredAnswer): string
  /** Returns the frames of the answer as a stream, in their order. */
  frames(answer: StoredAnswer): string[]
  /** Returns messages as items of a request, without ids. */
  items(messages: readonly Message[]): JsonObject[]
}

declare module './plugin.ts' {
  interface Services {
    storedAnswers: StoredAnswers
  }
}
