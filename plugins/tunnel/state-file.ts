// Remembers which tunnels are on, so that they are on again after a restart, and the children of a process that was killed.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Processes } from '../../core/types/ports/processes.ts'
import { PROVIDERS, type ProviderName, tunnelProviders } from './providers.ts'

const tunnelState = z.strictObject({
  enabled: z.boolean(),
  /** The running child. */
  pid: z.int().positive().nullable(),
  /** The gateway that started it. */
  owner: z.int().positive().nullable(),
})
const fileSchema = z.partialRecord(z.enum(PROVIDERS), tunnelState)

export type TunnelFile = z.output<typeof fileSchema>

export interface StateFile {
  read(): Promise<TunnelFile>
  /** Writes one after the other, whole or not at all. */
  write(state: TunnelFile): Promise<void>
}

/** @param dataDir null: the state is kept in memory. */
export function stateFile(dataDir: string | null): StateFile {
  let kept: TunnelFile = {}
  let last: Promise<unknown> = Promise.resolve()
  if (dataDir === null)
    return {
      read: async () => kept,
      async write(state) {
        kept = state
      },
    }
  const folder = join(dataDir, 'tunnel')
  const path = join(folder, 'state.json')
  const write = async (state: TunnelFile): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(`${path}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
  return {
    async read() {
      try {
        return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')))
      } catch {
        return {} // It was never written, or somebody else wrote it.
      }
    },
    write(state) {
      const writing = last.then(() => write(state))
      last = writing.catch(() => {})
      return writing
    },
  }
}

/** Ends the children of a gateway that was killed. The command of the process must be the provider's: pids are used again. */
export async function endOrphans(state: TunnelFile, processes: Processes): Promise<void> {
  for (const name of PROVIDERS) {
    const { pid = null, owner = null } = state[name] ?? {}
    if (pid === null || owner === null || owner === process.pid || processes.runs(owner)) continue
    if (processes.runs(pid) && (await commandOf(pid)).includes(tunnelProviders[name as ProviderName].program)) kill(pid)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It ended by itself.
  }
}

function commandOf(pid: number): Promise<string> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'args=', '-p', String(pid)], (_error, stdout) => resolve(stdout))
  })
}
