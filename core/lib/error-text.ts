// What a log says of something that was thrown and that nobody meant to throw.

export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
}
