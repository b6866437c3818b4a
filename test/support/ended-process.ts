// A process that has ended while its parent has not asked for its status, as after a kill of both.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { expect } from 'vitest'

export interface EndedProcess {
  readonly pid: number
  /** It runs until the end. */
  readonly parent: ChildProcess
  end(): void
}

/** The process of a gateway that was killed: the system still lists it, where it can tell. */
export async function goneProcess(): Promise<Pick<EndedProcess, 'pid' | 'end'>> {
  if (process.platform === 'linux') return endedProcess()
  const gone = spawn('true')
  await once(gone, 'exit')
  return { pid: gone.pid as number, end: () => {} }
}

/** Only Linux shows that such a process has ended. */
export async function endedProcess(): Promise<EndedProcess> {
  const parent = spawn('sh', ['-c', '(read line <&3) & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
  const pid = Number(await new Promise((resolve) => parent.stdout?.once('data', resolve)))
  // The shell becomes a program that never asks for the status of its child. Only then the child gets its line, and ends.
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'latin1')).toBe('sleep\n')
  ;(parent.stdio[3] as Writable).end('\n')
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) Z /)
  return { pid, parent, end: () => void parent.kill('SIGKILL') }
}
