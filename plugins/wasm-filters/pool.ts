// The threads of one filter: min(2, cores), started when they are needed. A request stays with one, where the guest may keep
// what it has to remember of it.
import { type CageInit, Sandbox } from './sandbox.ts'

export interface Pool {
  /** Starts the first thread. @throws Error why the module cannot be used. */
  open(): Promise<readonly string[]>
  /** The one with the least to do. */
  least(): Sandbox
  close(): Promise<void>
}

export function createPool(init: CageInit, size: number): Pool {
  const sandboxes = Array.from({ length: size }, () => new Sandbox(init))
  return {
    open: () => (sandboxes[0] as Sandbox).open(),
    least: () => sandboxes.reduce((least, sandbox) => (sandbox.pending < least.pending ? sandbox : least)),
    async close() {
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()))
    },
  }
}
