// The note by which a plugin that stores answers tells the codec of the responses dialect what the answer must say about it.
import type { CodecContext } from '../types/dialect.ts'

/** The members `store` and `previous_response_id` of the answer. */
export interface StoredTurn {
  readonly store: boolean
  readonly previous: string | null
}

const NAME = 'stored_turn'

export function noteStoredTurn({ notes }: CodecContext, { store, previous }: StoredTurn): void {
  notes.set(NAME, { store, previous })
}

export function storedTurnIn({ notes }: CodecContext): StoredTurn | undefined {
  return notes.get(NAME) as StoredTurn | undefined
}
