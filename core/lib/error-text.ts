// What a log says of something that was thrown and that nobody meant to throw.

export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}

const MAX_CAUSES = 3

/** The same of one that somebody may have meant, whose own words are enough; with what is behind it. */
export function loggedText(error: Error, causes = MAX_CAUSES): string {
  const own = error.name === 'GatewayError' ? error.message : errorText(error)
  return error.cause instanceof Error && causes > 0 ? `${own} Cause: ${loggedText(error.cause, causes - 1)}` : own
}

/** The same without the stack, for a sentence. What is thrown need not be an error. */
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : `it threw ${String(thrown)}`
}
