// The threads of one filter: min(2, cores), started when they are needed. A request stays with one, where the guest may keep
// what it has to remember of it.
import { Cage, type CageInit } from './sandbox.ts'

export interface Pool {
  /** Starts the first thread. @throws Error why the module cannot be used. */
  open(): Promise<readonly string[]>
  /** The one with the least to do. */
  least(): Cage
  close(): Promise<void>
}

export function createPool(init: CageInit, size: number): Pool {
  const cages = Array.from({ length: size }, () => new Cage(init))
  return {
    open: () => (cages[0] as Cage).open(),
    least: () => cages.reduce((least, cage) => (cage.pending < least.pending ? cage : least)),
    async close() {
      await Promise.all(cages.map((cage) => cage.close()))
    },
  }
}
