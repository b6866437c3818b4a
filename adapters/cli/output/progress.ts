// Draws a progress bar on stderr, after 300 ms and only on a terminal.
import { mayDraw } from '../terminal.ts'

export interface Progress {
  /** @param share 0 to 1; @param words behind the bar. */
  at(share: number, words: string): void
  /** Removes the bar. */
  done(): void
}

const PATIENCE_MS = 300
const WIDTH = 16

export function progress(): Progress {
  const begin = performance.now()
  const draws = mayDraw()
  let drawn = false
  return {
    at(share, words) {
      const took = performance.now() - begin
      if (!draws || took < PATIENCE_MS) return
      const left = share > 0 ? ` · ${Math.ceil(((took / share) * (1 - share)) / 1000)} s left` : ''
      process.stderr.write(`\r\u001b[K${progressBar(share)} ${words}${left}`)
      drawn = true
    },
    done() {
      if (drawn) process.stderr.write('\r\u001b[K')
    },
  }
}

export function progressBar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH)
  return `[${'█'.repeat(full)}${' '.repeat(WIDTH - full)}]`
}
