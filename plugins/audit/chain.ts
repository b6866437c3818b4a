// Computes and verifies a link of the chain: hash = SHA-256(prev_hash, line feed, the entry as canonical JSON). You can verify an
// exported line by itself: the hash covers the line without its last two members.
import { createHash } from 'node:crypto'

/** `prev_hash` of the first entry. */
export const GENESIS = '0'.repeat(64)

export interface Entry {
  readonly org_id: number
  /** Epoch ms. */
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string | null
  /** Canonical JSON; its exact text is hashed. */
  readonly details: string
  readonly ip: string | null
}

export interface Link extends Entry {
  readonly seq: number
  readonly prev_hash: string
  readonly hash: string
}

export function linked(entry: Entry, seq: number, prevHash: string): Link {
  return { ...entry, seq, prev_hash: prevHash, hash: hashOf({ ...entry, seq }, prevHash) }
}

/** Returns false when any column of the entry was altered. */
export function intact(link: Link): boolean {
  // The gateway did not write an entry with an invalid time.
  if (!Number.isSafeInteger(link.at) || Math.abs(link.at) > 8.64e15) return false
  return hashOf(link, link.prev_hash) === link.hash
}

/** Returns one line of the export. */
export function exportLine(link: Link): string {
  return `${entryJson(link).slice(0, -1)},"prev_hash":"${link.prev_hash}","hash":"${link.hash}"}\n`
}

/** Synchronous: a transaction that waits for another thread would block every writer. */
function hashOf(entry: Entry & { seq: number }, prevHash: string): string {
  return createHash('sha256')
    .update(`${prevHash}\n${entryJson(entry)}`)
    .digest('hex')
}

/** The members are in canonical order; `details` is canonical already. */
function entryJson({ action, actor, at, details, ip, org_id, seq, target }: Entry & { seq: number }): string {
  const text = (value: string | null) => JSON.stringify(value)
  return (
    `{"action":${text(action)},"actor":${text(actor)},"at":"${new Date(at).toISOString()}","details":${details},` +
    `"ip":${text(ip)},"org_id":${org_id === 0 ? null : org_id},"seq":${seq},"target":${text(target)}}`
  )
}
