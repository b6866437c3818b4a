// Compares function calls in their order: the same name and arguments 1, the same name 0.5, else 0.
import { comparableJson } from '../../../core/json/comparable-json.ts'
import { scanObject } from '../../../core/json/json-scan.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Answer } from '../sample.ts'

type Calls = Answer['calls']

/** Returns the mean over the longer of the two lists, 0 to 1. */
export function callsScore(served: Calls, other: Calls): number {
  const most = Math.max(served.length, other.length)
  if (most === 0) return 1
  let sum = 0
  served.forEach((call, index) => {
    const answer = other[index]
    if (answer?.name === call.name) sum += argumentsOf(call.args) === argumentsOf(answer.args) ? 1 : 0.5
  })
  return sum / most
}

/** Returns equal text for equal arguments, in whatever order and layout they are written. */
function argumentsOf(args: string): string {
  try {
    const text = args === '' ? '{}' : args
    // Bounds the depth.
    scanObject(encodeUtf8(text))
    return comparableJson(JSON.parse(text))
  } catch {
    return args
  }
}
