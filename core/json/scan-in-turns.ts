// Scans a large JSON text in several turns of the event loop, so that other requests are served in between.
import type { Turns } from '../timing/yield-queue.ts'
import { type ObjectScan, objectScan, type ValueLimits } from './json-scan.ts'
import { KeyStack } from './key-stack.ts'
import type { Member } from './member.ts'
import type { NameRecorder } from './member-names.ts'

/** Takes some milliseconds, even when every value is a key to compare. */
const VALUES_A_TURN = 20_000

/** @throws GatewayError 400 as `scanObject` does. */
export function scanInTurns(
  bytes: Uint8Array,
  limits: ValueLimits,
  turns: Turns,
  names: NameRecorder | null = null,
): Promise<Map<string, Member>> {
  return driven(objectScan(bytes, limits, new KeyStack(), names), turns)
}

/** Validates grammar, depth and number of values only. @throws GatewayError 400. */
export async function judgeInTurns(bytes: Uint8Array, limits: ValueLimits, turns: Turns): Promise<void> {
  await driven(objectScan(bytes, limits, null), turns)
}

async function driven(scan: ObjectScan, turns: Turns): Promise<Map<string, Member>> {
  for (;;) {
    const members = scan(VALUES_A_TURN)
    if (members !== null) return members
    await turns.next()
  }
}
