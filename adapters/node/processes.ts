// Tells which processes of this machine run.
import { readFileSync } from 'node:fs'
import type { Processes } from '../../core/types/ports/processes.ts'

export const processes: Processes = {
  runs(pid) {
    try {
      process.kill(pid, 0)
    } catch (error) {
      // Another user's process may not be signalled. It is there.
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
    }
    return !isZombie(pid)
  },
}

/**
 * A process that has ended keeps its pid until its parent asks for its status. When the parent was killed, `init` asks, which takes a while,
 * and in some containers it never does.
 */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    // The name in parentheses may contain any character; the state follows it.
    return /^ [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, ''))
  } catch {
    return false
  }
}
