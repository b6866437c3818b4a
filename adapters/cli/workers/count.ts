// How many workers a command line, the environment or a configuration file asks for.
import { availableParallelism } from 'node:os'
import { failUsage } from '../fail.ts'

const MOST = 64

/** @param text `4` or `auto`; undefined or empty: 1. @param origin named in the message. @throws WrongUsage for anything else. */
export function workerCount(text: string | undefined, origin: string): number {
  const asked = text?.trim() ?? ''
  if (asked === '') return 1
  if (asked === 'auto') return Math.min(MOST, availableParallelism())
  const count = /^\d{1,3}$/.test(asked) ? Number(asked) : 0
  if (count >= 1 && count <= MOST) return count
  return failUsage(`${origin}: \`${asked.slice(0, 60)}\` is neither \`auto\` nor a whole number from 1 to ${MOST}.`)
}
