// Limits concurrency; further callers wait in order of arrival. Hashing shares its threads with DNS and file access.

export interface Slots {
  run<T>(fn: () => Promise<T>): Promise<T>
}

export function slots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  return {
    async run(fn) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await fn()
      } finally {
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
  }
}
