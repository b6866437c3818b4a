// A request that another page gives to the playground. It stays in memory: a prompt is never part of an address.

let given: Record<string, unknown> | null = null

export function handOver(body: Record<string, unknown>): void {
  const { model: _, stream: __, ...rest } = body
  given = rest
}

/** Returns what was given, once. */
export function takeOver(): Record<string, unknown> | null {
  const body = given
  given = null
  return body
}
