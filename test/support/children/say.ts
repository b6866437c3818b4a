// A line on stdout that is out when this returns, also where whoever reads it is slow: what a killed process said is what it knew.
import { writeSync } from 'node:fs'

export function say(text: string): void {
  let left = Buffer.from(text)
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}
