// Flags as the query of a route.

/** The time that figures are of. */
export const WINDOW = {
  window: { type: 'string', description: '24h, 7d or 30d up to now; default: 24h', valueHint: 'window' },
  since: { type: 'string', description: 'From the beginning of this day in UTC, instead', valueHint: 'day' },
  until: { type: 'string', description: 'With --since: up to the beginning of this day', valueHint: 'day' },
} as const

/** As members of a query; what is not given is left to the API. */
export function queryOf(members: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
