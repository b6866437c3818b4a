// Slots of many processes in the memory of one. A slot is free again when its holder releases it, when the holder's process ends, and when
// the process renews nothing for the length of the lease.

/** The slots of one process, by lease. */
export type Held = Map<number, { readonly key: string; readonly leaseMs: number }>

export interface Slots {
  /** Returns the lease; 0: no slot is free. */
  acquire(held: Held, key: string, max: number, leaseMs: number): number
  release(held: Held, lease: number): void
  /** Extends every lease of the process. A lease that has expired meanwhile holds again: its request is still running. */
  renew(held: Held): void
  /** The process has ended. */
  leave(held: Held): void
}

/** @param now monotonic ms. */
export function slotTable(now: () => number): Slots {
  /** By key: lease → the ms at which it expires. */
  const keys = new Map<string, Map<number, number>>()
  let last = 0

  const free = (key: string, lease: number): void => {
    const leases = keys.get(key)
    leases?.delete(lease)
    if (leases?.size === 0) keys.delete(key)
  }
  const hold = (key: string, lease: number, until: number): void => {
    let leases = keys.get(key)
    if (leases === undefined) {
      leases = new Map()
      keys.set(key, leases)
    }
    leases.set(lease, until)
  }

  return {
    acquire(held, key, max, leaseMs) {
      const at = now()
      const leases = keys.get(key)
      if (leases !== undefined && leases.size >= max) for (const [lease, until] of leases) if (until <= at) leases.delete(lease)
      if ((leases?.size ?? 0) >= max) return 0
      const lease = ++last
      hold(key, lease, at + leaseMs)
      held.set(lease, { key, leaseMs })
      return lease
    },
    release(held, lease) {
      const one = held.get(lease)
      if (one === undefined) return
      held.delete(lease)
      free(one.key, lease)
    },
    renew(held) {
      const at = now()
      for (const [lease, { key, leaseMs }] of held) hold(key, lease, at + leaseMs)
    },
    leave(held) {
      for (const [lease, { key }] of held) free(key, lease)
      held.clear()
    },
  }
}
