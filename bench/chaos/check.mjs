// Checks the ledger after a kill and a restart.
import { PRICE } from './upstream.mjs'

const CHECKPOINT_MS = 2000

/** `slackMs`: how late a checkpoint may be on a busy machine. Adds to `figures`; returns the faults as text. */
export async function check({ rows, accounts, budgets, seen, journal, killedAt, slackMs, figures, all }) {
  const wrong = []
  const mine = new Map(rows.map((row) => [row.user_id, row]))
  if (mine.size !== rows.length) wrong.push(`${rows.length - mine.size} requests have two rows`)
  for (const [marker, { whole, status }] of seen) {
    const row = mine.get(marker)
    const sent = journal.get(marker)
    if (whole && row === undefined) {
      figures.lost++
      wrong.push(`${marker}: its answer was whole and it has no row`)
    }
    if (sent !== undefined && row === undefined) {
      figures.lost++
      wrong.push(`${marker}: the upstream was asked and it has no row`)
    }
    if (status === 402 && row !== undefined) wrong.push(`${marker}: refused, and has a row`)
    if (row === undefined || sent === undefined) continue
    compare(marker, row, sent, whole)
  }
  for (const { id, limit, spent, reserved, scope, entity } of budgets) {
    const sum = all(scope, entity)
    if (reserved !== 0) wrong.push(`budget ${id}: ${reserved} nano are still reserved (M1)`)
    if (spent !== sum) wrong.push(`budget ${id}: spent ${spent}, and its rows say ${sum} (M2)`)
    if (spent > limit) {
      figures.overspendNano = Math.max(figures.overspendNano, spent - limit)
      wrong.push(`budget ${id}: ${spent - limit} nano over its limit (M3)`)
    }
  }
  for (const { account, reserved_nano } of accounts) if (reserved_nano < 0) wrong.push(`${account}: reserved below zero (M1)`)
  return wrong

  function compare(marker, row, { prompt, sent }, whole) {
    const most = prompt * PRICE.input + sent.length * PRICE.output
    if (row.interrupted) figures.interrupted++
    else figures.settled++
    if (row.cost_nano > most) wrong.push(`${marker}: booked ${row.cost_nano}, and the upstream sent ${most} (M7)`)
    if (whole && !row.interrupted && row.cost_nano !== most) wrong.push(`${marker}: booked ${row.cost_nano} of ${most}`)
    if (!row.interrupted) return
    const known = sent.filter((at) => at < killedAt - CHECKPOINT_MS - slackMs).length
    if (row.output_tokens < known) wrong.push(`${marker}: booked ${row.output_tokens} tokens, ${known} were seen by a checkpoint`)
    figures.unbookedNano = Math.max(figures.unbookedNano, most - row.cost_nano)
  }
}
