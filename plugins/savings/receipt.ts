// A receipt and its place in its organization's chain: hash = SHA-256(prev_hash, line feed, the receipt as canonical JSON without `hash`).
// You can verify exported lines by themselves: the hash covers the line without its last member.
import { createHash } from 'node:crypto'

/** `prev_hash` of the first receipt. */
export const GENESIS = '0'.repeat(64)

/** A receipt before it is in the chain, with the names of its columns. */
export interface Booked {
  readonly request_id: string
  readonly source: string
  /** 0: no organization. */
  readonly org_id: number
  /** Start of the request, epoch ms. */
  readonly at: number
  readonly provider: string | null
  readonly model: string | null
  readonly key_id: number | null
  readonly virtual_model: string | null
  readonly cost_center: string | null
  readonly user_id: string | null
  /** `source` of its usage row. */
  readonly usage_source: string
  readonly tokens_before: number
  readonly tokens_after: number
  readonly tokens_saved: number
  readonly usd_saved_nano: number
  readonly method: string
  /** Canonical JSON; its exact text is hashed. */
  readonly details: string
  readonly price_ref: string | null
}

export interface Receipt extends Booked {
  /** From 1, without gaps, in each organization. */
  readonly seq: number
  readonly prev_hash: string
  readonly hash: string
}

export function chained(booked: Booked, seq: number, prevHash: string): Receipt {
  const receipt = { ...booked, seq, prev_hash: prevHash }
  return { ...receipt, hash: hashOf(receipt) }
}

/** Returns false when any column was altered. */
export function intact(receipt: Receipt): boolean {
  // The gateway did not write a receipt with an invalid time.
  if (!Number.isSafeInteger(receipt.at) || Math.abs(receipt.at) > 8.64e15) return false
  return hashOf(receipt) === receipt.hash
}

/** Returns one line of the export. */
export function exportLine(receipt: Receipt): string {
  return `${hashedJson(receipt).slice(0, -1)},"hash":${text(receipt.hash)}}\n`
}

function hashOf(receipt: Omit<Receipt, 'hash'>): string {
  return createHash('sha256')
    .update(`${receipt.prev_hash}\n${hashedJson(receipt)}`)
    .digest('hex')
}

/** The members are in canonical order; `details` and `price_ref` are canonical already. */
function hashedJson(r: Omit<Receipt, 'hash'>): string {
  return (
    `{"at":"${new Date(r.at).toISOString()}","cost_center":${text(r.cost_center)},"details":${r.details},` +
    `"key_id":${r.key_id},"method":${text(r.method)},"model":${text(r.model)},"org_id":${r.org_id === 0 ? null : r.org_id},` +
    `"prev_hash":${text(r.prev_hash)},"price_ref":${r.price_ref},"provider":${text(r.provider)},` +
    `"request_id":${text(r.request_id)},"seq":${r.seq},"source":${text(r.source)},"tokens_after":${r.tokens_after},` +
    `"tokens_before":${r.tokens_before},"tokens_saved":${r.tokens_saved},"usage_source":${text(r.usage_source)},` +
    `"usd_saved_nano":${r.usd_saved_nano},"user_id":${text(r.user_id)},"virtual_model":${text(r.virtual_model)}}`
  )
}

function text(value: string | null): string {
  return JSON.stringify(value)
}
