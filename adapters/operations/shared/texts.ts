// Texts of requests and answers that have none, or whose texts are a list of strings.
import type { TextsOf } from '../../../core/types/operations/operation.ts'

/** For answers without texts. */
export const NO_TEXTS: TextsOf<never> = { read: () => [], replace: (value) => value as never }
