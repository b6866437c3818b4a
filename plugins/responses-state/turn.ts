// The stored form of one turn.
import type { Message, Part } from '../../core/types/canonical.ts'

/** One turn of a conversation. */
export interface Turn {
  readonly messages: readonly Message[]
  /** By part number; null: the number was not used. */
  readonly output: readonly (Part | null)[]
}
