// Processes of this machine: which of them run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { processes } from '../../../adapters/node/processes.ts'
import { endedProcess } from '../../support/ended-process.ts'

it('a process runs until it has ended', async () => {
  const child = spawn('sleep', ['60'])
  const pid = child.pid as number
  expect([processes.runs(pid), processes.runs(process.pid)]).toEqual([true, true])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(processes.runs(pid)).toBe(false)
})

it('the first process of the system runs, also for a user who may not signal it', () => {
  expect(processes.runs(1)).toBe(true)
})

it.runIf(process.platform === 'linux')(
  'a process that has ended does not run, also before its parent asks for its status',
  async () => {
    const { pid, parent, end } = await endedProcess()
    try {
      // The system still knows it.
      expect(process.kill(pid, 0)).toBe(true)
      expect([processes.runs(pid), processes.runs(parent.pid as number)]).toEqual([false, true])
    } finally {
      end()
    }
  },
)
