// Returns the text of an unexpected error for the log.

export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}

const MAX_CAUSES = 3

/** Returns the text of an expected error for the log: its message and its causes, without a stack. */
export function loggedText(error: Error, causes = MAX_CAUSES): string {
  const own = error.name === 'GatewayError' ? error.message : errorText(error)
  return error.cause instanceof Error && causes > 0 ? `${own} Cause: ${loggedText(error.cause, causes - 1)}` : own
}

/** Returns the message alone, for use in a sentence. The thrown value may be of any type. */
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : `it threw ${String(thrown)}`
}
