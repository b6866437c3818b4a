// The scan of a large JSON text, cut into turns of the event loop: others are served between two of them.
import type { YieldQueue } from '../timing/yield-queue.ts'
import { type Member, type ObjectScan, objectScan, type ValueLimits } from './json-scan.ts'
import { KeyStack } from './key-stack.ts'

/** Some milliseconds, also where every value is a name to be compared. */
const VALUES_A_TURN = 20_000

/** @throws GatewayError 400 what `scanObject` throws. */
export function scanInTurns(bytes: Uint8Array, limits: ValueLimits, turns: YieldQueue): Promise<Map<string, Member>> {
  return driven(objectScan(bytes, limits, new KeyStack()), turns)
}

/** Judges grammar, depth and number of values alone. @throws GatewayError 400 */
export async function judgeInTurns(bytes: Uint8Array, limits: ValueLimits, turns: YieldQueue): Promise<void> {
  await driven(objectScan(bytes, limits, null), turns)
}

async function driven(scan: ObjectScan, turns: YieldQueue): Promise<Map<string, Member>> {
  for (;;) {
    const members = scan(VALUES_A_TURN)
    if (members !== null) return members
    await turns.next()
  }
}
