// Comparing digests in a time that says nothing about where they differ. Secrets are compared by theirs, `vault.mac`.

/** False at once for different lengths: a digest's length is no secret. */
export function sameDigest(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let i = 0; i < given.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i)
  return difference === 0
}
