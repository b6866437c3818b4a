// Compares digests in constant time. Compare secrets by their digest, `vault.mac`.

/** Returns false at once for different lengths: a digest's length is not secret. */
export function sameDigest(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let i = 0; i < given.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i)
  return difference === 0
}
