import type { Member } from './member.ts'

/** A later scan of a smaller body costs little. */
const SCANNED_AGAIN = 16 * 1024

/** Lets go of what can be computed again. Returns null when the members themselves can. */
export function withoutCaches(members: Map<string, Member>, bodyBytes: number): Map<string, Member> | null {
  if (bodyBytes <= SCANNED_AGAIN) return null
  for (const member of members.values()) {
    member.text = undefined
    member.view = undefined
    member.places = undefined
  }
  return members
}
