// Checks the path of a download. It is decoded once: `%252e` stays the name `%2e`.

/**
 * Returns the names on a path below the folder; null for a path that may lead out of it, or that no file can have.
 * @param rest the path after `/dl/`, as received
 */
export function namesOf(rest: string): string[] | null {
  const names: string[] = []
  for (const part of rest.split('/')) {
    const name = decoded(part)
    if (name === null || name === '' || name === '.' || name === '..' || FORBIDDEN.test(name)) return null
    names.push(name)
  }
  return names
}

/** Separators, drives and alternate streams of Windows, and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const FORBIDDEN = /[/\\:\0-\x1f\x7f]/

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
