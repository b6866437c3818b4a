// How the order of a hook's plugins differs from the generation before.

export interface OrderChange {
  readonly plugin: string
  readonly change: 'same' | 'added' | 'moved' | 'removed'
}

/** Returns the plugins in their order now, and those that are gone at the end. */
export function orderChanges(now: readonly string[], before: readonly string[]): OrderChange[] {
  const stayed = before.filter((plugin) => now.includes(plugin))
  const kept = now.filter((plugin) => before.includes(plugin))
  return [
    ...now.map((plugin): OrderChange => {
      if (!before.includes(plugin)) return { plugin, change: 'added' }
      return { plugin, change: kept.indexOf(plugin) === stayed.indexOf(plugin) ? 'same' : 'moved' }
    }),
    ...before.filter((plugin) => !now.includes(plugin)).map((plugin): OrderChange => ({ plugin, change: 'removed' })),
  ]
}
